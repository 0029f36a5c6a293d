import t, { type Test } from 'tap'
import { SandboxError } from '../../src/model/errors.ts'
import { createRandom } from '../../src/runtime/random.ts'
import { realLater } from '../../src/runtime/real-time.ts'
import { UnitOfWork } from '../../src/store/unit-of-work.ts'
import { Clock } from '../../src/time/clock.ts'
import { createScheduler, type TimerRow } from '../../src/time/scheduler.ts'
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
      nextSeq: () => ++seq,
    },
    onError: (error) => errors.push(error),
    runtime: { later },
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

t.test('advancing runs timers by time, then insertion, each at its own instant', async (t) => {
  const { ran, clock, scheduler, add } = build(t)
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
  const { fired } = await scheduler.advanceTo(50)
  t.same(ran, ['a@10', 'b@10', 'added@25', 'c@30'])
  t.equal(fired.length, 5)
  t.equal(clock.now(), 50)
  t.equal(scheduler.next()?.payload['name'], 'late')
})

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

t.test('a failing handler is reported and blocks no other timer', async (t) => {
  const { ran, errors, rows, scheduler, add } = build(t)
  scheduler.handle('bad', () => {
    throw new Error('bad')
  })
  add('b', 5, 'bad')
  add('n', 6)
  await scheduler.advanceTo(10)
  t.same([ran, errors.length, rows.size], [['n@6'], 1, 0])
})

t.test('a thousand timers run in order', async (t) => {
  const { ran, scheduler, add } = build(t)
  const random = createRandom(7)
  for (let i = 0; i < 1_000; i++) add(String(i), Math.floor(random.fraction() * 1_000))
  await scheduler.advanceTo(1_000)
  const times = ran.map((text) => Number(text.split('@')[1]))
  t.equal(ran.length, 1_000)
  t.ok(times.every((at, i) => i === 0 || times[i - 1]! <= at))
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

t.test('a ticking clock runs each timer when it is due, and no sooner', async (t) => {
  const { ran, add, scheduler, rows, pass } = ticking(t)
  add('b', 2_000)
  add('a', 1_000)
  const cancelled = add('cancelled', 1_500)
  pass(999)
  t.same(ran, [])
  pass(1)
  t.same(ran, ['a@1000'])
  add('soon', 1_200)
  scheduler.cancel(cancelled.timer_id)
  pass(200)
  t.same(ran, ['a@1000', 'soon@1200'], 'a later one that is due sooner')
  pass(800)
  t.same(ran, ['a@1000', 'soon@1200', 'b@2000'])
  t.equal(rows.size, 0)
})

t.test('a change of the clock changes when timers run', async (t) => {
  const { ran, add, clock, scheduler, pass } = ticking(t)
  add('a', 10_000)
  clock.freeze()
  scheduler.arm()
  pass(20_000)
  t.same(ran, [])
  clock.resume()
  scheduler.arm()
  pass(4_000)
  t.same(ran, [])
  clock.speed(60)
  scheduler.arm()
  pass(99)
  t.same(ran, [])
  pass(1)
  t.same(ran, ['a@10000'])
})

t.test('a stopped scheduler runs nothing; a new one finds what is stored', async (t) => {
  const { ran, add, scheduler, rows, pass } = ticking(t)
  add('a', 1_000)
  add('b', 2_000)
  scheduler.stop()
  pass(5_000)
  t.same([ran, rows.size], [[], 2])
  scheduler.reload()
  scheduler.start()
  pass(0)
  t.same(ran, ['a@5000', 'b@5000'], 'what was missed runs at once, in order')
  rows.set('tmr_9', { timer_id: 'tmr_9', seq: 9, due_at: 6_000, kind: 'note', payload: {} })
  scheduler.reload()
  pass(1_000)
  t.same(rows.size, 0)
})

t.test('a timer farther off than a process timer can wait runs when it is due', async (t) => {
  const DAY = 86_400_000
  const warned: string[] = []
  const note = ({ name }: Error) => void (name === 'TimeoutOverflowWarning' && warned.push(name))
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const real = build(t, 'real')
  real.add('far', 40 * DAY)
  await new Promise(setImmediate)
  t.same(warned, [], 'Node would warn, and fire at once')
  real.scheduler.stop()

  const { ran, add, pass } = ticking(t)
  add('far', 40 * DAY)
  for (let day = 1; day < 40; day++) pass(DAY)
  pass(DAY - 1)
  t.same(ran, [])
  pass(1)
  t.same(ran, [`far@${40 * DAY}`])
})

t.test(
  'timers that are due together are written together, and a bad one of them falls out',
  async (t) => {
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
  },
)

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

t.test('an advance that meets a full disk moves nothing and loses no timer', async (t) => {
  const { ran, add, scheduler, clock, rows, disk } = build(t)
  add('a', 10)
  disk.full = true
  await t.rejects(scheduler.advanceTo(100), /^disk full$/)
  await t.rejects(scheduler.advanceToNext(), /^disk full$/)
  t.same([ran, rows.size, clock.now()], [[], 1, 0])
  disk.full = false
  t.match((await scheduler.advanceTo(100)).fired, [{ kind: 'note' }])
  t.same(ran, ['a@10'])
})

t.test(
  'an advance that meets a full disk on its way stands where the last was written',
  async (t) => {
    const { ran, add, scheduler, clock, rows, disk } = build(t)
    add('a', 10)
    scheduler.handle('fills', () => {
      disk.full = true
      return undefined
    })
    // Its own change is the first that is refused.
    add('b', 20)
    add('c', 30, 'fills')
    const refused = {
      code: 'storage_unavailable',
      message: /the clock stopped at 1970-01-01T00:00:00\.020Z/,
    }
    await t.rejects(scheduler.advanceTo(100), refused)
    t.same([ran, rows.size, clock.now()], [['a@10', 'b@20'], 1, 20])
    await t.rejects(scheduler.advanceTo(100), /^disk full$/)
    t.equal(clock.now(), 20)
  },
)

t.test('an advance whose end cannot be kept stands where the last was written', async (t) => {
  const { add, scheduler, clock } = build(t)
  const refuse = () => {
    throw new SandboxError('storage_unavailable', 'disk full')
  }
  await t.rejects(scheduler.advanceBy(100, { persist: refuse }), /^disk full$/)
  t.equal(clock.now(), 0)
  add('a', 10)
  await t.rejects(
    scheduler.advanceBy(100, { persist: refuse }),
    /the clock stopped at 1970-01-01T00:00:00\.010Z/,
  )
  t.equal(clock.now(), 10)
  // What is due already moves no time, and is written all the same.
  add('b', 5)
  await t.rejects(
    scheduler.advanceToNext({ persist: refuse }),
    /the clock stopped at 1970-01-01T00:00:00\.010Z/,
  )
})

t.test('firing runs one timer now, once, and leaves the others and the clock', async (t) => {
  const { ran, add, scheduler, clock } = build(t)
  add('a', 10)
  const late = add('late', 99)
  t.match(await scheduler.fire(late), [
    {
      at: '1970-01-01T00:00:00.000Z',
      kind: 'note',
      timer_id: late.timer_id,
      name: 'late',
    },
  ])
  t.same([ran, clock.now()], [['late@0'], 0])
  t.same(
    scheduler.pending().map(({ payload }) => payload['name']),
    ['a'],
  )
  t.equal((await scheduler.advanceTo(200)).fired.length, 1)
  t.same(ran, ['late@0', 'a@10'])
})

t.test('the next timer is jumped to, and none is no error', async (t) => {
  const { add, scheduler, clock } = build(t)
  t.same((await scheduler.advanceToNext()).fired, [])
  t.equal(clock.now(), 0)
  add('a', 70)
  add('b', 70)
  add('c', 71)
  t.equal((await scheduler.advanceToNext()).fired.length, 2)
  t.equal(clock.now(), 70)
  t.equal(scheduler.next()?.payload['name'], 'c')
})

t.test('an advance reports the results of timers, but not timers without effect', async (t) => {
  const { add, scheduler } = build(t)
  scheduler.handle('late', () => false)
  scheduler.handle('other', () => ({ name: 'became' }))
  scheduler.handle('bad', () => {
    throw new Error('of the test')
  })
  for (const kind of ['late', 'other', 'bad', 'note']) add('said', 10, kind)
  const received = (await scheduler.advanceTo(20)).fired.map(({ kind, ...more }) => [
    kind,
    more['name'],
  ])
  t.same(received, [
    ['other', 'became'],
    ['note', 'said'],
  ])
  t.same(await scheduler.fire(add('said', 99, 'late')), [])
})

/** A kind of timer that schedules itself again every 10 ms. */
function repeating({ scheduler }: ReturnType<typeof build>, countRuns = true) {
  scheduler.handle(
    'again',
    ({ due_at }) => {
      scheduler.schedule({ due_at: due_at + 10, kind: 'again', payload: {} })
      return undefined
    },
    countRuns ? { countRuns: ({ due_at }, at) => 1 + Math.floor((at - due_at) / 10) } : {},
  )
  return scheduler.schedule({ due_at: 10, kind: 'again', payload: {} })
}

t.test('an advance that would run too many timers is refused and changes nothing', async (t) => {
  const built = build(t)
  const { scheduler, clock, rows } = built
  const { timer_id } = repeating(built)
  await t.rejects(scheduler.advanceTo(10_010, { max: 1_000 }), {
    code: 'too_many_timers',
    message:
      /At least 1,001 timers are due until .+; one call runs at most 1,000\. Nothing was changed/,
  })
  t.strictSame([clock.now(), [...rows.keys()]], [0, [timer_id]])
  t.equal((await scheduler.advanceTo(10_000, { max: 1_000 })).fired.length, 1_000)
})

t.test('timers that schedule others end an advance at its limit, and it says where', async (t) => {
  const built = build(t)
  const { scheduler, clock } = built
  repeating(built, false)
  const kept: number[] = []
  const persist = () => void kept.push(clock.now())
  await t.rejects(scheduler.advanceTo(100_000, { max: 100, persist }), {
    code: 'too_many_timers',
    message: /ran 100 timers, .*clock stopped at 1970-01-01T00:00:01\.000Z/,
  })
  t.strictSame([clock.now(), kept], [1_000, [1_000]])
  t.equal((await scheduler.advanceTo(2_000, { max: 100 })).fired.length, 100, 'and it goes on')
})

t.test('an advance tells the first 10,000 of what ran and counts the rest', async (t) => {
  const built = build(t)
  repeating(built)
  const { fired, omitted } = await built.scheduler.advanceTo(100_070)
  t.strictSame([fired.length, omitted, fired[0]?.timer_id], [10_000, 7, 'tmr_1'])
})

t.test('an advance whose caller is gone stops where it is', async (t) => {
  const { scheduler, clock, add, ran } = build(t)
  const gone = new AbortController()
  scheduler.handle('leaves', () => {
    gone.abort()
    return undefined
  })
  add('a', 10)
  add('', 20, 'leaves')
  add('b', 30)
  const kept: boolean[] = []
  await scheduler.advanceTo(100, {
    signal: gone.signal,
    persist: (through) => void kept.push(through),
  })
  t.strictSame([ran, clock.now(), kept], [['a@10'], 20, [false]])
  await scheduler.advanceTo(50, { signal: gone.signal })
  t.equal(clock.now(), 20, 'nor does it begin')
  await scheduler.advanceTo(100)
  t.strictSame([ran, clock.now()], [['a@10', 'b@30'], 100])
})

/** `sent` is the work of a timer that waits for a receiver, until `respond` ends it. */
function createReceiver() {
  let end = () => {}
  const sent = () =>
    new Promise<void>((resolve) => {
      end = resolve
    })
  return { sent, respond: () => end() }
}

t.test(
  'an advance waits a second for the receiver of another advance, then its turn',
  async (t) => {
    const timers = manualTimers()
    const { scheduler, clock, add } = build(t, 'frozen', timers.later)
    const { sent, respond } = createReceiver()
    scheduler.handle('sent', sent, { parallel: true })
    scheduler.handle('works', sent)
    add('', 10, 'sent')
    add('', 20, 'works')
    const first = scheduler.advanceTo(100)
    while (clock.now() < 10) await new Promise(setImmediate)
    const rejected = t.rejects(scheduler.advanceBy(1), { code: 'receiver_busy' })
    timers.pass(1_000)
    await rejected
    const second = scheduler.advanceBy(1)
    timers.pass(999)
    respond()
    while (clock.now() < 20) await new Promise(setImmediate)
    const third = scheduler.advanceBy(1)
    respond()
    await Promise.all([first, second, third])
    t.equal(clock.now(), 102, 'calls whose receivers respond take turns')

    const gone = new AbortController()
    add('', 200, 'sent')
    const left = scheduler.advanceTo(300, { signal: gone.signal })
    while (clock.now() < 200) await new Promise(setImmediate)
    gone.abort()
    const next = scheduler.advanceTo(250)
    respond()
    await Promise.all([left, next])
    t.equal(clock.now(), 250, 'one whose caller is gone refuses nobody')
  },
)

t.test('an advance waits a second for attempts of others, and is then refused', async (t) => {
  const timers = manualTimers()
  const { scheduler, clock, add } = build(t, 'frozen', timers.later)
  const { sent, respond } = createReceiver()
  scheduler.handle('sent', sent, { parallel: true })
  const fired = (at: number) => {
    add('', at, 'sent')
    return scheduler.fire(scheduler.pending()[0]!)
  }
  const first = fired(10)
  const refused = t.rejects(scheduler.advanceTo(100), { code: 'receiver_busy' })
  timers.pass(1_000)
  await refused
  t.equal(clock.now(), 0, 'time was not moved')
  const gone = new AbortController()
  const left = scheduler.advanceTo(50, { signal: gone.signal })
  gone.abort()
  const next = scheduler.advanceTo(100)
  timers.pass(999)
  respond()
  await Promise.all([first, left, next])
  t.equal(clock.now(), 100, 'an answer in time lets it go on')
})

t.test('a clock that runs ahead of what it can do lets other work in between', async (t) => {
  const built = build(t, 'real')
  const { scheduler, wall, clock, rows } = built
  clock.speed(1_000_000)
  repeating(built, false)
  // Each look at the wall clock finds it later: there is always something due.
  let now = 0
  Object.defineProperty(wall, 'now', { get: () => ++now })
  scheduler.arm()
  while (now < 500) await new Promise(setImmediate)
  t.equal(rows.size, 1, 'and nothing piles up')
})
