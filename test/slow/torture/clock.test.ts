import { join } from 'node:path'
import t, { type Test } from 'tap'
import { GUARDED, start } from '../../helper.ts'
import { figures, LONG, seeded } from './part.ts'
import { FIXTURES, PAYMENT } from './two-users.ts'

const PAYMENTS = LONG ? 5_000 : 80
const DAY_MS = 86_400_000

type Fired = { at: string; kind: string; timer_id: string; resource_id: string; status: string }
const ms = (iso: string) => Date.parse(iso)

const SPREAD = {
  name: 'spread',
  rules: [
    {
      when: { operation: 'createTransaction' },
      then: {
        steps: [
          { status: 'PENDING' },
          { status: 'PROCESSING', after: '1ms..60d' },
          { status: 'SUCCESS', after: '0s..60d' },
        ],
      },
    },
  ],
}

/** Payments whose steps lie anywhere in four months, and what ran when time was moved over these spans. */
async function spread(t: Test, spans: readonly string[], file?: string) {
  const options = {
    ...GUARDED,
    fixtures: FIXTURES,
    ...(file !== undefined && { sandbox: { file } }),
  }
  let world = await start(t, options)
  await world.call('PUT', '/__admin/scenario', { definition: SPREAD })
  for (let n = 0; n < PAYMENTS; n++) await world.post('/v1/transaction', PAYMENT)
  const { body: pending } = await world.get('/__admin/timers?limit=10000')
  const fired: Fired[] = []
  for (const span of spans) {
    const { body: moved } = await world.advance(span)
    fired.push(...moved.fired)
    if (file === undefined) continue
    // A restart between two leaps: what is still to happen is found again.
    await world.close()
    world = await start(t, options)
  }
  const { body: clock } = await world.get('/__admin/clock')
  return { pending: pending.timers, fired, clock }
}

t.test('thousands of timers run once each, in order, in one leap or in many', async (t) => {
  const one = await spread(t, ['120d'])
  t.equal(one.pending.length, 2 * PAYMENTS)
  t.equal(one.fired.length, 2 * PAYMENTS)
  t.equal(new Set(one.fired.map(({ timer_id }) => timer_id)).size, 2 * PAYMENTS, 'each once')
  const number = ({ timer_id }: Fired) => Number(timer_id.slice('tmr_'.length))
  const disorder = one.fired.filter((timer, i) => {
    const before = one.fired[i - 1]
    return (
      before &&
      (ms(before.at) > ms(timer.at) || (before.at === timer.at && number(before) > number(timer)))
    )
  })
  t.same(disorder, [], 'by time, then by insertion')
  const due = new Map(one.pending.map(({ timer_id, at }: Fired) => [timer_id, at]))
  t.same(
    one.fired.filter(({ timer_id, at }) => due.get(timer_id) !== at),
    [],
    'each at its own instant',
  )
  t.equal(one.clock.pending_timers, 0)
  const chance = seeded()
  const spans = Array.from({ length: 9 }, () => `${1 + Math.floor(chance() * 1_200_000)}s`)
  const many = await spread(t, [...spans, '120d'], join(t.testdir({}), 'db.json'))
  t.same(many.fired, one.fired, 'the same in ten leaps with restarts between')
  figures({ timers: 2 * PAYMENTS, 'jumps with restarts': spans.length + 1 })
})

t.test('time does not go backwards but by a freeze, and then nothing happens twice', async (t) => {
  const { post, get, advance } = await start(t, { ...GUARDED, fixtures: FIXTURES })
  await post('/v1/transaction', PAYMENT)
  await advance('2s')
  const before = (await get('/__admin/state')).text
  const back = await post('/__admin/clock/advance', { to: '2025-12-31T00:00:00Z' })
  t.match(back, { status: 422, body: { error: 'clock_cannot_go_back' } })
  t.equal((await get('/__admin/state')).text, before)
  const { body: frozen } = await post('/__admin/clock/freeze', { at: '2016-01-01T00:00:00Z' })
  t.match(frozen, { now: '2016-01-01T00:00:00.000Z', pending_timers: 1 })
  t.same((await advance('3649d')).body.fired, [], 'what was done is not done again')
  const { body: after } = await advance('10d')
  t.match(after.fired, [{ at: '2026-01-01T00:00:03.000Z', status: 'SUCCESS' }])
  await post('/__admin/clock/freeze', { at: '9995-06-01T00:00:00Z' })
  const still = (await get('/__admin/state')).text
  const past = await advance('3650d')
  t.equal((await get('/__admin/state')).text, still)
  t.match(past, { status: 400, body: { errors: [{ field: 'by', code: 'out_of_range' }] } })
})

t.test('a wall clock that leaps takes time along ahead, and never back', async (t) => {
  let wall = ms('2026-01-01T00:00:00Z')
  let elapsed = 0
  const start_ = { randomSeed: 1, clock: 'real', clockSpeed: 1, scenario: 'default' }
  const { post, get, sandbox } = await start(t, {
    fixtures: FIXTURES,
    sandbox: {
      start: start_,
      runtime: (real) => ({ ...real, wall: () => wall, elapsed: () => elapsed }),
    },
  })
  const now = async () => (await get('/__admin/clock')).body.now
  // Nobody waits for the process's own timers here.
  sandbox.default.clock.timers.stop()
  await post('/v1/transaction', PAYMENT)
  wall -= 3_650 * DAY_MS
  elapsed += 500
  t.equal(await now(), '2026-01-01T00:00:00.500Z', 'set back by ten years: it goes on')
  t.equal((await post('/__admin/clock/advance', { by: '0s' })).body.fired.length, 0)
  wall += 2 * 3_650 * DAY_MS
  const later = await now()
  t.ok(ms(later) >= ms('2035-12-29T00:00:00Z'), 'set ahead by twenty: it goes along')
  const { body } = await post('/__admin/clock/advance', { by: '0s' })
  t.same(
    body.fired.map(({ at }: Fired) => at),
    ['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:03.000Z'],
  )
  wall -= DAY_MS
  t.ok(ms(await now()) >= ms(later))
})
