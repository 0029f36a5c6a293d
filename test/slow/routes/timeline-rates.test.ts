import t from 'tap'
import { createLog, start } from '../../helper.ts'

const SCENARIO = '/__admin/scenario'
const ticking = (clockSpeed: number) => ({ clock: 'real', clockSpeed })
const userCount = async ({ get }: Awaited<ReturnType<typeof start>>) =>
  (await get('/v1/users?limit=1')).body.data.total_users as number

// The measure of `health` under such a load is in test/cli; here all that matters is that anything is answered at all.
for (const { speed, entry, entries } of [
  { speed: 60, entry: { every: '100ms', do: { create_users: 1_000 } }, entries: 1 },
  { speed: 1_000_000, entry: { every: '100ms', do: { create_users: 1 } }, entries: 1 },
  { speed: 1_000_000, entry: { every: '100ms', do: { trigger: 'webhook.test' } }, entries: 1 },
  { speed: 10_000, entry: { every: '100ms', do: { call: 'createTransaction' } }, entries: 1 },
  { speed: 1_000, entry: { every: '1s', do: { credit: { amount: '5.00' } } }, entries: 400 },
]) {
  const [word] = Object.keys(entry.do)
  t.test(`a rate that cannot be kept stops nobody: ${word} at speed ${speed}`, async (t) => {
    const log = createLog()
    const box = await start(t, { begin: ticking(speed), sandbox: { log } })
    const timeline = Array.from({ length: entries }, () => entry)
    const { status } = await box.put(SCENARIO, { definition: { title: 'x', timeline } })
    t.equal(status, 200)
    for (let i = 0; i < 10; i++) {
      await new Promise(setImmediate)
      t.equal((await box.get('/__admin/health')).status, 200)
    }
    const of = (text: string) => log.lines.filter((line) => line.includes(text)).length
    t.ok(of('cannot be kept') <= 1, `${of('cannot be kept')} lines of a rate that cannot be kept`)
  })
}

t.test('turns that are too far behind are left out, and said so once', async (t) => {
  const log = createLog()
  const wall = { now: Date.parse('2026-03-01T00:00:00Z') }
  const box = await start(t, { begin: ticking(60), sandbox: { wall: () => wall.now, log } })
  const before = await userCount(box)
  const timeline = [{ after: '100ms', every: '100ms', times: 1_500, do: { create_users: 1 } }]
  await box.put(SCENARIO, { definition: { title: 'x', timeline } })
  wall.now += 60_000
  // Asking for the clock tells the scheduler nothing; changing its speed does.
  await box.post('/__admin/clock/speed', { factor: 1 })
  while ((await userCount(box)) < before + 1_001) await new Promise(setImmediate)
  const [timer] = (await box.get('/__admin/timers')).body.timers
  t.equal(timer.payload.remaining, 499, 'what is skipped takes nothing off `times`')
  const lines = log.lines.filter((line) => line.includes('the rate is too high'))
  t.match(lines, [
    /^client "default": timeline of inline: create_users every 100ms: the rate is too high .* runs are skipped/,
  ])
  t.equal(lines.length, 1)
})

t.test('a warning that comes again and again is logged once, with its client', async (t) => {
  const log = createLog()
  const box = await start(t, { sandbox: { log } })
  const trigger = (every: string) => ({ after: '1s', every, do: { trigger: 'webhook.test' } })
  const timeline = [trigger('100ms'), trigger('200ms')]
  t.equal((await box.put(SCENARIO, { definition: { title: 'x', timeline } })).status, 200)
  await box.advance('3m')
  t.strictSame(
    log.lines.filter((line) => line.includes('timeline')),
    [
      'client "default": timeline of inline: trigger every 100ms: No webhook exists yet, so `latest` matches nothing.',
    ],
  )
})

t.test('an advance beyond what one call may run is refused with the number', async (t) => {
  const box = await start(t)
  const timeline = [{ after: '1s', every: '100ms', do: { trigger: 'webhook.test' } }]
  await box.put(SCENARIO, { definition: { title: 'x', timeline } })
  const before = (await box.get('/__admin/clock')).text
  for (const [path, body] of [
    ['advance', { by: '3650d' }],
    ['advance', { to: '2035-12-30T00:00:00Z' }],
    ['freeze', { at: '2035-12-30T00:00:00Z' }],
  ] as const) {
    const { status, body: received } = await box.post(`/__admin/clock/${path}`, body)
    t.match(
      [status, received],
      [422, { error: 'too_many_timers', message: /At least 3,15[\d,]+ timers/ }],
    )
    t.equal((await box.get('/__admin/clock')).text, before)
  }
  const { body } = await box.advance('20m')
  t.strictSame([body.fired.length, body.left_out], [10_000, 1_991])
  t.notOk('left_out' in (await box.advance('1s')).body)
})

t.test('a timeline has at most 500 entries', async (t) => {
  const box = await start(t)
  const timelineOf = (count: number) =>
    Array.from({ length: count }, () => ({ after: '1h', do: { trigger: 'webhook.test' } }))
  const put = (count: number) =>
    box.put(SCENARIO, { definition: { title: 'x', timeline: timelineOf(count) } })
  const { status, body } = await put(501)
  t.equal(status, 400)
  t.match(body.errors, [{ field: 'definition.timeline', message: /500/ }])
  t.equal((await put(500)).status, 200)
})

t.test('taken digits are drawn anew for users that are made at once', async (t) => {
  const box = await start(t)
  const timeline = Array.from({ length: 6 }, () => ({ do: { create_users: 1_000 } }))
  t.equal((await box.put(SCENARIO, { definition: { title: 'x', timeline } })).status, 200)
  const { data } = (await box.get('/v1/users?limit=1')).body
  t.ok(data.total_users > 6_000)
})

t.test('turns that are left out do not count against the limit of an advance', async (t) => {
  const wall = { now: Date.parse('2026-03-01T00:00:00Z') }
  const box = await start(t, { begin: ticking(1), sandbox: { wall: () => wall.now } })
  const timeline = [{ every: '100ms', do: { trigger: 'webhook.test' } }]
  await box.put(SCENARIO, { definition: { title: 'x', timeline } })
  wall.now += 30 * 86_400_000
  const { status, body } = await box.advance('1s')
  t.strictSame([status, body.fired.length], [200, 1_011])
})
