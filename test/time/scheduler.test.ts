import t, { type Test } from 'tap'
import type { TimerRow } from '../../src/model/delivery.ts'
import { SandboxError } from '../../src/model/errors.ts'
import { realLater } from '../../src/runtime/real-time.ts'
import { UnitOfWork } from '../../src/store/unit-of-work.ts'
import { Clock } from '../../src/time/clock.ts'
import { createScheduler } from '../../src/time/scheduler.ts'
import { manualTimers } from '../manual-timers.ts'

function build(t: Pick<Test, 'teardown'>, mode: 'real' | 'frozen' = 'frozen', later = realLater) {
  const rows = new Map<string, TimerRow>()
  const ran: string[] = []
  const errors: unknown[] = []
  const wall = { now: 0 }
  let seq = 0
  const disk = { full: false, writes: 0 }
  const unit = new UnitOfWork(() => {
    if (disk.full) throw new SandboxError('storage_unavailable', 'disk full')
    disk.writes++
  })
  const world = { name: 'w', random: { counter: 0 } }
  const set = (id: string, row: TimerRow | undefined) =>
    unit.change(() => {
      const before = rows.get(id)
      if (row) rows.set(id, row)
      else rows.delete(id)
      unit.record(world, ['remove', 'timers', id], () => {
        if (before) rows.set(id, before)
        else rows.delete(id)
      })
    })
  const sorted = () => [...rows.values()].sort((a, b) => a.due_at - b.due_at || a.seq - b.seq)
  const clock = new Clock({ mode, speed: 1, anchor: 0, wallAnchor: 0 }, () => wall.now)
  const scheduler = createScheduler({
    clock,
    rows: {
      all: sorted,
      soonest: () => sorted()[0],
      count: () => rows.size,
      get: (id) => rows.get(id),
      insert: (row) => set(row.timer_id, row),
      remove: (id) => set(id, undefined),
      change: (run) => unit.change(run),
      changeSize: () => unit.size,
      nextSeq: () => ++seq,
    },
    onError: (error) => errors.push(error),
    later,
  })
  scheduler.handle('note', (timer) => {
    unit.change(() => {
      ran.push(`${timer.payload['name']}@${clock.now()}`)
      unit.record(world, ['remove', 'timers', timer.timer_id], () => void ran.pop())
    })
    return undefined
  })
  const add = (name: string, due_at: number, kind = 'note') =>
    scheduler.schedule({ due_at, kind, payload: { name } })
  scheduler.start()
  t.teardown(scheduler.stop)
  return { rows, ran, errors, wall, disk, clock, scheduler, add }
}

t.test('two advances take turns and time never goes back', async (t) => {
  const { clock, scheduler, add, ran } = build(t)
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

t.test('an advance and a fired timer report no timer without effect', async (t) => {
  const { add, scheduler } = build(t)
  scheduler.handle('late', () => false)
  scheduler.handle('other', () => ({ name: 'became' }))
  for (const kind of ['late', 'other', 'note']) add('said', 10, kind)
  const { fired } = await scheduler.advanceTo(20)
  t.match(fired, [{ name: 'became' }, { name: 'said' }])
  t.equal(fired.length, 2)
  t.same(await scheduler.fire(add('said', 99, 'late')), [])
})

/** Lets time pass: the wall's, the client's and that of the process's own timers. */
function ticking(t: Pick<Test, 'teardown'>) {
  const timers = manualTimers()
  const built = build(t, 'real', timers.later)
  return {
    ...built,
    pass(ms: number) {
      built.wall.now += ms
      timers.pass(ms)
    },
  }
}

t.test('timers that are due together are one write, without a bad one of them', async (t) => {
  const { ran, errors, rows, add, scheduler, pass, disk } = ticking(t)
  scheduler.handle('bad', () => {
    add('never', 5_000)
    throw new Error('bad')
  })
  add('a', 1_000)
  add('b', 1_000, 'bad')
  add('c', 1_001)
  const before = disk.writes
  pass(2_000)
  t.same([ran, errors.length, rows.size], [['a@2000', 'c@2000'], 1, 0])
  t.equal(disk.writes, before + 1)
})

t.test('a timer whose change cannot be written is tried again', async (t) => {
  const { ran, errors, rows, add, pass, disk } = ticking(t)
  add('a', 10)
  add('b', 20)
  disk.full = true
  pass(10)
  t.same([ran.length, errors.length, rows.size], [0, 1, 2])
  pass(999)
  t.equal(errors.length, 1, 'not before a second has gone by')
  disk.full = false
  pass(1)
  t.same(ran, ['a@1010', 'b@1010'])
  t.equal(rows.size, 0)
})

t.test('a timer with many changes ends its batch, so that others have their turn', async (t) => {
  for (const [size, writes] of [
    [1, 1],
    [600, 2],
    [1_001, 4],
  ] as const) {
    const { scheduler, add, rows, disk } = build(t)
    scheduler.handle('large', () => {
      for (let i = 0; i < size; i++) add(`${i}`, 9_000)
      return undefined
    })
    for (let i = 0; i < 4; i++) add(`${i}`, 1_000, 'large')
    const before = disk.writes
    await scheduler.advanceTo(2_000)
    t.equal(rows.size, 4 * size)
    t.equal(disk.writes - before, writes, `${size}`)
  }
})

t.test('after a timer with many changes, the real clock lets others have their turn', (t) => {
  for (const [size, order] of [
    [1, 'large large other other'],
    [1_001, 'large other large other'],
  ] as const) {
    const timers = manualTimers()
    const { scheduler, add, wall } = build(t, 'real', timers.later)
    const seen: string[] = []
    scheduler.handle('large', () => {
      seen.push('large')
      timers.later(0, () => seen.push('other'))
      for (let i = 0; i < size; i++) add(`${i}`, 9_000)
      return undefined
    })
    for (const name of ['a', 'b']) add(name, 1_000, 'large')
    wall.now = 1_000
    timers.pass(1_000)
    t.equal(seen.join(' '), order, `${size}`)
  }
  t.end()
})
