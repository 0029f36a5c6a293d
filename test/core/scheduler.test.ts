import t from 'tap'
import { createClock } from '../../src/core/clock.ts'
import { createRandom } from '../../src/core/random.ts'
import { createScheduler, type TimerRow } from '../../src/core/scheduler.ts'

function build(mode: 'real' | 'frozen' = 'frozen') {
  const rows = new Map<string, TimerRow>()
  const ran: string[] = []
  const errors: unknown[] = []
  let seq = 0
  const disk = { full: false, writes: 0 }
  const changes = createChanges(() => {
    if (disk.full) throw new SandboxError('storage_unavailable', 'full')
    disk.writes++
  })
  const set = (id: string, row: TimerRow | undefined) =>
    changes.change(() => {
      const before = rows.get(id)
      if (row) rows.set(id, row)
      else rows.delete(id)
      changes.record('w', () => 0, '0', () => {
        if (before) rows.set(id, before)
        else rows.delete(id)
      })
    })
  const clock = createClock({ mode, speed: 1, anchor: 0, wallAnchor: 0 }, () => 0)
  const scheduler = createScheduler({
    clock,
    rows: {
      all: () => rows.values(),
      get: (id) => rows.get(id),
      put: (row) => set(row.timer_id, row),
      remove: (id) => set(id, undefined),
      change: (run) => changes.change(run),
      nextSeq: () => ++seq,
    },
    onError: (error) => errors.push(error),
  })
  scheduler.handle('note', (timer) => {
    ran.push(`${timer.payload['name']}@${clock.now()}`)
    return undefined
  })
  const add = (name: string, due_at: number, kind = 'note') =>
    scheduler.schedule({ due_at, kind, payload: { name } })
  scheduler.start()
  t.teardown(scheduler.stop)
  return { rows, ran, errors, clock, scheduler, add, disk }
}

t.test('advancing runs timers by time, then insertion, each at its own instant', async (t) => {
  const { ran, clock, scheduler, add } = build()
  for (const [name, at] of [
    ['c', 30],
    ['a', 10],
    ['b', 10],
    ['late', 99],
  ] as const)
    add(name, at)
  scheduler.handle('adds', (timer) => void add('added', timer.due_at + 5) as undefined)
  add('x', 20, 'adds')
  scheduler.cancel(add('cancelled', 15).timer_id)
  const fired = await scheduler.advanceTo(50)
  t.same(ran, ['a@10', 'b@10', 'added@25', 'c@30'])
  t.equal(fired.length, 5)
  t.equal(clock.now(), 50)
  t.equal(scheduler.next()?.payload['name'], 'late')
})

t.test('two advances take turns and time never goes back', async (t) => {
  const { clock, scheduler, add, ran } = build()
  scheduler.handle('slow', async () => {
    await new Promise(setImmediate)
    ran.push(`slow@${clock.now()}`)
  })
  add('s', 10, 'slow')
  add('n', 20)
  await Promise.all([scheduler.advanceBy(100), scheduler.advanceTo(50), scheduler.advanceBy(1)])
  t.same(ran, ['slow@10', 'n@20'])
  t.equal(clock.now(), 101)
})

t.test('a failing handler is told and keeps nothing back', async (t) => {
  const { ran, errors, rows, scheduler, add } = build()
  scheduler.handle('bad', () => {
    throw new Error('bad')
  })
  add('b', 5, 'bad')
  add('n', 6)
  await scheduler.advanceTo(10)
  t.same([ran, errors.length, rows.size], [['n@6'], 1, 0])
})

t.test('ten thousand timers run in order', async (t) => {
  const { ran, scheduler, add } = build()
  const random = createRandom(7)
  for (let i = 0; i < 10_000; i++) add(String(i), Math.floor(random.fraction() * 1_000))
  await scheduler.advanceTo(1_000)
  const times = ran.map((text) => Number(text.split('@')[1]))
  t.equal(ran.length, 10_000)
  t.ok(times.every((at, i) => i === 0 || times[i - 1]! <= at))
})

t.test(
  'a random series is its seed and counter alone, and its uuids are of version 4',
  async (t) => {
    const [one, same] = [createRandom(1), createRandom(1)]
    const seen = new Set<string>()
    for (let i = 0; i < 100_000; i++) seen.add(one.uuid())
    t.equal(seen.size, 100_000)
    const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    t.ok([...seen].every((uuid) => form.test(uuid)))
    const first = same.uuid()
    t.ok(seen.has(first))
    t.equal(createRandom(1, { counter: 0 }).uuid(), first)
    t.not(createRandom(2).uuid(), first)
    t.equal(same.at('label', 3), createRandom(1).at('label', 3), 'at moves and reads no draw')
  },
)
