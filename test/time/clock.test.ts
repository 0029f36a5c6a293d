import t from 'tap'
import { createSteadyWall } from '../../src/runtime/real-time.ts'
import { Clock, type ClockState } from '../../src/time/clock.ts'

const START = Date.parse('2026-01-01T00:00:00.000Z')

/** A clock and the wall it hangs on. */
function build(state: Partial<ClockState> = {}) {
  const wall = { now: 1_000 }
  const initial = { mode: 'real' as const, speed: 1, anchor: START, wallAnchor: 1_000, ...state }
  return { wall, clock: new Clock(initial, () => wall.now) }
}

t.test('a real clock goes on with the wall from where it was anchored', async (t) => {
  const { wall, clock } = build()
  t.equal(clock.now(), START)
  wall.now += 1_500
  t.equal(clock.now(), START + 1_500)
  t.equal(clock.iso(), '2026-01-01T00:00:01.500Z')
  t.equal(clock.realDelayUntil(START + 2_000), 500)
  t.equal(clock.realDelayUntil(START), 0, 'what is past is due now')
})

t.test('speed counts from where it is set, in whole milliseconds', async (t) => {
  const { wall, clock } = build()
  wall.now += 1_000
  clock.speed(60)
  t.equal(clock.now(), START + 1_000, 'no leap')
  wall.now += 1_000
  t.equal(clock.now(), START + 61_000)
  t.equal(clock.realDelayUntil(START + 121_000), 1_000)
  clock.speed(0.5)
  wall.now += 1_001
  t.equal(clock.now(), START + 61_500)
  t.equal(clock.realDelayUntil(START + 62_500), 2_000, 'half a millisecond late and never early')
})

t.test('a frozen clock that gets a speed runs from where it is', async (t) => {
  const { wall, clock } = build()
  clock.freeze()
  wall.now += 5_000
  clock.speed(60)
  t.equal(clock.state.mode, 'real')
  t.equal(clock.now(), START)
  wall.now += 1_000
  t.equal(clock.now(), START + 60_000)
})

t.test('a frozen clock stands still and resumes without a leap', async (t) => {
  const { wall, clock } = build({ speed: 10 })
  wall.now += 100
  clock.freeze()
  wall.now += 5_000
  t.equal(clock.now(), START + 1_000)
  t.equal(clock.realDelayUntil(START + 1_001), Number.POSITIVE_INFINITY)
  t.equal(clock.state.mode, 'frozen')
  clock.resume()
  t.equal(clock.now(), START + 1_000)
  wall.now += 7
  t.equal(clock.now(), START + 1_070, 'at the speed it had')
  clock.freeze(START - 1)
  t.equal(clock.iso(), '2025-12-31T23:59:59.999Z', 'by order, time goes back')
  clock.resume()
  wall.now += 1
  t.equal(clock.now(), START + 9, 'and on from there')
})

t.test('a wall clock that is set back takes no time back, and time goes on', async (t) => {
  const real = { wall: 1_000, elapsed: 50 }
  const received: number[] = []
  const steady = createSteadyWall({
    wall: () => real.wall,
    elapsed: () => real.elapsed,
    onSetBack: (ms) => received.push(ms),
  })
  const state = { mode: 'real' as const, speed: 2, anchor: START, wallAnchor: 1_000 }
  const clock = new Clock(state, steady)
  const pass = (ms: number, leap = 0) => {
    real.elapsed += ms
    real.wall += ms + leap
    return clock.now() - START
  }
  t.equal(pass(5_000), 10_000)
  t.equal(pass(1_000, -3_600_000), 12_000, 'set back by an hour')
  t.equal(pass(500), 13_000)
  t.equal(clock.realDelayUntil(START + 14_000), 500, 'what is due is due in time')
  t.equal(pass(1_000, 3_600_000), 15_000, 'put right again it does not leap')
  t.equal(pass(1_000, 60_000), 137_000, 'set forward it does, as after a sleep')
  t.strictSame(received, [3_599_000])
})

t.test('a clock that was stored before the wall clock was set back goes on', async (t) => {
  const wall = { now: 1_000 }
  const stored = { mode: 'real' as const, speed: 1, anchor: START, wallAnchor: 9_999_999 }
  const clock = new Clock(stored, () => wall.now)
  wall.now += 70
  t.equal(clock.now(), START + 70)
  clock.load(stored)
  wall.now += 5
  t.equal(clock.now(), START + 5)
})

t.test('a held clock shows the held instant, and goes on from where it is released', async (t) => {
  for (const mode of ['real', 'frozen'] as const) {
    const { wall, clock } = build({ mode })
    clock.stopAt(START + 10_000)
    wall.now += 3
    t.equal(clock.now(), START + 10_000)
    clock.stopAt(START + 20_000)
    t.equal(clock.iso(), '2026-01-01T00:00:20.000Z')
    clock.continueFrom(START + 30_000)
    t.equal(clock.now(), START + 30_000)
    wall.now += 5
    t.equal(clock.now(), START + 30_000 + (mode === 'real' ? 5 : 0), mode)
    t.equal(clock.state.mode, mode)
  }
})

t.test('a stored state is taken as it is', async (t) => {
  const { wall, clock } = build()
  wall.now += 9_000
  clock.now()
  clock.stopAt(START + 90_000)
  clock.load({ mode: 'real', speed: 2, anchor: START, wallAnchor: wall.now })
  t.equal(clock.now(), START, 'neither a hold nor the latest instant outlives it')
  wall.now += 10
  t.equal(clock.now(), START + 20)
  t.match(clock.state, { speed: 2, anchor: START })
})

t.test('a fast clock stops at the last instant that a timestamp can tell', async (t) => {
  const { wall, clock } = build({ speed: 1_000_000 })
  wall.now += 1_000 * 86_400_000
  t.equal(clock.iso(), '9999-12-31T23:59:59.999Z')
  wall.now += 86_400_000
  t.equal(clock.iso(), '9999-12-31T23:59:59.999Z')
  clock.speed(1)
  t.equal(clock.iso(), '9999-12-31T23:59:59.999Z')
})
