import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ASHA, createLog, GUARDED, pluck, start, TOKEN, watchChanges } from '../helper.ts'
import { manualTimers } from '../manual-timers.ts'
import { faultyDisk } from '../store/faulty-disk.ts'

t.test('the clock is moved, and what is due runs in order', async (t) => {
  const { get, post, call, pay } = await start(t)
  await pay()
  t.match((await get('/__admin/clock')).body, {
    now: '2026-01-01T00:00:00.000Z',
    mode: 'frozen',
    next_timer_at: '2026-01-01T00:00:01.000Z',
    pending_timers: 2,
  })
  t.equal((await post('/__admin/clock/next')).body.now, '2026-01-01T00:00:01.000Z')
  const [timer] = (await get('/__admin/timers')).body.timers
  t.equal((await post(`/__admin/timers/${timer.timer_id}/fire`)).body.fired.length, 1)
  t.equal((await call('DELETE', `/__admin/timers/${timer.timer_id}`)).status, 404)
  const bad: [string, object, number][] = [
    ['advance', {}, 400],
    ['advance', { by: '5' }, 400],
    ['advance', { by: 5 }, 400],
    ['advance', { by: '1s', to: '2027-01-01T00:00:00Z' }, 400],
    ['advance', { to: '2025-01-01T00:00:00Z' }, 422],
    ['advance', { to: '9999-12-31T23:59:59-12:00' }, 400],
    ['freeze', { at: 'noon' }, 400],
    ['speed', { factor: 0 }, 400],
  ]
  const before = (await get('/__admin/clock')).text
  for (const [path, body, status] of bad)
    t.equal((await post(`/__admin/clock/${path}`, body)).status, status, JSON.stringify(body))
  const received: [string, object, string][] = [
    ['speed', { factor: 0 }, 'factor must be more than 0; found 0.'],
    ['speed', { factor: 12345678901 }, 'factor must be at most 1000000; found 12345678901.'],
    ['advance', {}, 'The request body must have exactly one of "by" and "to".'],
    ['advance', { by: '1s', too: 'x' }, 'too is an unknown field; did you mean "to"?'],
    [
      'advance',
      { by: 180_000 },
      'by must be a duration such as "3m", "500ms", "2d" or "PT5S", at most 10 years; found 180000.',
    ],
    [
      'advance',
      180_000 as never,
      'The request body must be an object such as {"by": "3m"} or {"to": "2026-01-02T00:00:00Z"}; a duration such as "3m" includes its unit; found 180000.',
    ],
  ]
  for (const [path, body, message] of received) {
    const answer = await post(`/__admin/clock/${path}`, body)
    t.equal(answer.body.message, message)
  }
  t.equal((await get('/__admin/clock')).text, before)
  t.equal((await post('/__admin/clock/freeze', { at: '2025-01-01T00:00:00Z' })).status, 200)
})

/** A sandbox whose clocks tick on a wall that the test moves. */
async function onWall(t: Test) {
  const wall = { now: Date.parse('2026-03-01T00:00:00Z') }
  const timers = manualTimers()
  const box = await start(t, {
    ...GUARDED,
    begin: { clock: 'real' },
    sandbox: { runtime: (real) => ({ ...real, wall: () => wall.now, later: timers.later }) },
  })
  return {
    ...box,
    /** Lets real time pass. */
    pass(ms: number) {
      wall.now += ms
      timers.pass(ms)
    },
    statusOfNewest: async () =>
      (await box.get('/v1/transaction/history', TOKEN)).body.data.transactions[0].status,
    clock: async () => (await box.get('/__admin/clock')).body,
  }
}

t.test('a real clock ticks, and payments go on by themselves', async (t) => {
  const { pay, pass, clock, statusOfNewest } = await onWall(t)
  t.match(await clock(), {
    now: '2026-03-01T00:00:00.000Z',
    mode: 'real',
    speed: 1,
    next_timer_at: null,
    pending_timers: 0,
  })
  await pay()
  t.equal((await clock()).next_timer_at, '2026-03-01T00:00:01.000Z')
  const seen = []
  for (const ms of [999, 1, 1_999, 1]) {
    pass(ms)
    seen.push(await statusOfNewest())
  }
  t.strictSame(seen, ['PENDING', 'PROCESSING', 'PROCESSING', 'SUCCESS'])
  t.match(await clock(), { now: '2026-03-01T00:00:03.000Z', pending_timers: 0 })
})

t.test('a machine whose clock is set back goes on, and says so once', async (t) => {
  const real = { wall: Date.parse('2026-03-01T00:00:00Z'), elapsed: 0 }
  const log = createLog()
  const { get, post } = await start(t, {
    begin: { clock: 'real' },
    sandbox: {
      runtime: (runtime) => ({ ...runtime, wall: () => real.wall, elapsed: () => real.elapsed }),
      log,
    },
  })
  const now = async (base = '') => (await get(`${base}/__admin/clock`)).body.now
  /** The time of the client after this real time; `leap` is by how much the wall clock is set. */
  const pass = async (ms: number, leap = 0, base = '') => {
    real.elapsed += ms
    real.wall += ms + leap
    return now(base)
  }
  await now('/@other')
  t.equal(await pass(1_000, -3_600_000), '2026-03-01T00:00:01.000Z')
  t.equal(await pass(2_000), '2026-03-01T00:00:03.000Z')
  t.equal(await now('/@other'), '2026-03-01T00:00:03.000Z')
  await post('/__admin/clock/freeze')
  await pass(500)
  t.equal((await post('/__admin/clock/resume')).body.now, '2026-03-01T00:00:03.000Z')
  t.equal(await pass(500, 3_600_000), '2026-03-01T00:00:03.500Z', 'put right it does not leap')
  t.equal(await pass(500, 60_000), '2026-03-01T00:01:04.000Z', 'set forward it does')
  t.equal(log.lines.filter((line) => line.includes('set back')).length, 1)
})

t.test('a fast clock stops at the last instant of a timestamp', async (t) => {
  const { post, pass, clock } = await onWall(t)
  await post('/__admin/clock/speed', { factor: 1_000_000 })
  for (const factor of [1_000_000, 1]) {
    pass(1_000 * 86_400_000)
    t.equal((await clock()).now, '9999-12-31T23:59:59.999Z')
    await post('/__admin/clock/speed', { factor })
  }
})

t.test('speed and resume take effect on what is pending, without a leap', async (t) => {
  const { post, pay, pass, clock, statusOfNewest } = await onWall(t)
  await pay()
  t.match((await post('/__admin/clock/freeze')).body, { mode: 'frozen', pending_timers: 2 })
  pass(60_000)
  t.equal(await statusOfNewest(), 'PENDING')
  t.match((await post('/__admin/clock/resume')).body, {
    mode: 'real',
    speed: 1,
    now: '2026-03-01T00:00:00.000Z',
  })
  await post('/__admin/clock/freeze')
  pass(60_000)
  const faster = async (factor: number) => (await post('/__admin/clock/speed', { factor })).body
  t.match(await faster(10), { mode: 'real', speed: 10, now: '2026-03-01T00:00:00.000Z' })
  pass(99)
  t.equal(await statusOfNewest(), 'PENDING')
  pass(1)
  t.equal(await statusOfNewest(), 'PROCESSING')
  t.match(await faster(0.5), { now: '2026-03-01T00:00:01.000Z' })
  pass(3_999)
  t.equal(await statusOfNewest(), 'PROCESSING')
  pass(1)
  t.equal(await statusOfNewest(), 'SUCCESS')
  t.equal((await clock()).now, '2026-03-01T00:00:03.000Z')
})

t.test('a ticking clock is advanced and goes on from there', async (t) => {
  const { post, pay, pass, clock } = await onWall(t)
  await pay()
  pass(500)
  const { body } = await post('/__admin/clock/advance', { by: '1h' })
  t.same(pluck(body.fired, 'at'), ['2026-03-01T00:00:01.000Z', '2026-03-01T00:00:03.000Z'])
  t.equal(body.now, '2026-03-01T01:00:00.500Z')
  pass(250)
  t.match(await clock(), { now: '2026-03-01T01:00:00.750Z', mode: 'real' })
})

t.test('freezing at a later instant runs what is passed, at an earlier one nothing', async (t) => {
  const { post, pay, get } = await start(t)
  await pay()
  const later = await post('/__admin/clock/freeze', { at: '2026-01-01T00:00:02Z' })
  t.match(later.body, { now: '2026-01-01T00:00:02.000Z', pending_timers: 1 })
  const earlier = await post('/__admin/clock/freeze', { at: '2025-06-01T00:00:00Z' })
  t.match(earlier.body, { now: '2025-06-01T00:00:00.000Z', pending_timers: 1 })
  const [row] = (await get('/v1/transaction/history', TOKEN)).body.data.transactions
  t.equal(row.status, 'PROCESSING')
})

t.test('a deleted timer does not happen', async (t) => {
  const { call, get, pay, advance } = await start(t)
  await pay()
  const [, last] = (await get('/__admin/timers')).body.timers
  t.equal(last.at, '2026-01-01T00:00:03.000Z')
  t.strictSame((await call('DELETE', `/__admin/timers/${last.timer_id}`)).body, {
    deleted: last.timer_id,
  })
  t.equal((await get('/__admin/timers')).body.timers.length, 1)
  t.equal((await advance('1d')).body.fired.length, 1)
  t.equal(
    (await get('/v1/transaction/history', TOKEN)).body.data.transactions[0].status,
    'PROCESSING',
  )
  const gone = await call('DELETE', `/__admin/timers/${last.timer_id}`)
  t.match(gone, {
    status: 404,
    body: { message: `This client has no pending timer ${last.timer_id}.` },
  })
})

t.test('a fired timer happens now, once, and time stands', async (t) => {
  const { post, get, pay, advance } = await start(t)
  const { transaction_id } = (await pay()).body.data[0]
  const [first] = (await get('/__admin/timers')).body.timers
  t.equal(first.resource_id, transaction_id)
  const { body } = await post(`/__admin/timers/${first.timer_id}/fire`)
  t.match(body, {
    now: '2026-01-01T00:00:00.000Z',
    fired: [
      {
        at: '2026-01-01T00:00:00.000Z',
        kind: first.kind,
        timer_id: first.timer_id,
        resource_id: transaction_id,
      },
    ],
  })
  t.equal(
    (await get('/v1/transaction/history', TOKEN)).body.data.transactions[0].status,
    'PROCESSING',
  )
  t.equal((await post(`/__admin/timers/${first.timer_id}/fire`)).status, 404)
  t.match((await advance('1d')).body.fired, [{ kind: first.kind }, { kind: 'transaction.utr' }])
  t.equal((await get('/v1/transaction/history', TOKEN)).body.data.transactions[0].status, 'SUCCESS')
})

t.test('a step that is fired early drops what it rules out, not a late reversal', async (t) => {
  const { post, get, pay, advance } = await start(t, GUARDED)
  const life = async (more: object) => {
    await pay(more)
    return (await get('/__admin/timers')).body.timers
  }
  const statuses = (rows: { payload?: object; status?: string }[]) =>
    rows.map((row) => (row.payload ?? row) as { status: string }).map(({ status }) => status)
  const usual = await life({})
  t.strictSame(statuses(usual), ['PROCESSING', 'SUCCESS'])
  t.strictSame(statuses((await post(`/__admin/timers/${usual[1].timer_id}/fire`)).body.fired), [
    'SUCCESS',
  ])
  t.strictSame((await get('/__admin/timers')).body.timers, [], 'it is over')
  t.strictSame((await advance('1d')).body.fired, [])

  const reversed = await life({ amount: '100.96' })
  t.strictSame(statuses(reversed), ['PROCESSING', 'SUCCESS', 'FAILED'])
  await post(`/__admin/timers/${reversed[1].timer_id}/fire`)
  t.strictSame(statuses((await get('/__admin/timers')).body.timers), ['FAILED'])
  t.strictSame(statuses((await advance('1d')).body.fired), ['FAILED'])
  t.equal((await get('/v1/transaction/history', TOKEN)).body.data.transactions[0].status, 'FAILED')
})

t.test('what fired tells is what became of the resource', async (t) => {
  const { post, get, advance } = await start(t)
  const account = { user_id: ASHA, account_number: '999900000006', ifsc_code: 'HDFC0000001' }
  for (let n = 0; n < 2; n++) t.equal((await post('/v1/bank', account)).status, 201)
  const { fired } = (await advance('5s')).body
  const states = pluck(fired, 'status')
  t.strictSame(states, ['success', 'failed'], 'the same account is not verified twice')
  const rows = (await get(`/v1/bank/${ASHA}`)).body.data
  for (const { resource_id, status } of fired)
    t.equal(
      rows.find((row: { bank_id: string }) => row.bank_id === resource_id).bank_status,
      status,
    )
})

t.test('at the end of time, new timers still run and are reported correctly', async (t) => {
  const { post, get, put, pay, advance } = await start(t)
  await post('/__admin/clock/freeze', { at: '9999-12-31T23:59:59.000Z' })
  await pay()
  for (const { at } of (await get('/__admin/timers')).body.timers)
    t.equal(at, '9999-12-31T23:59:59.999Z')
  t.equal((await advance('999ms')).body.fired.length, 3, 'two steps and the UTR')
  t.equal((await get('/v1/transaction/history', TOKEN)).body.data.transactions[0].status, 'SUCCESS')
  const state = (await get('/__admin/state')).body
  const early = { ...state, clock: { ...state.clock, now: '1900-01-01T00:00:00.000Z' } }
  t.match((await put('/__admin/state', early)).body.errors, [{ field: 'clock.now' }])
  const clock = '1900-01-01T00:00:00Z'
  t.equal((await post('/__admin/clients', { name: 'old', clock })).status, 400)
})

t.test('time that cannot be written does not go by; the error says how far it went', async (t) => {
  const { disk, state } = faultyDisk()
  const { get, post, pay, sandbox } = await start(t, {
    sandbox: { disk, file: join(t.testdir(), 'db.json') },
  })
  const full = (from: number) => {
    state.count = 0
    state.fault = { from, calls: Number.POSITIVE_INFINITY, errno: 'ENOSPC' }
  }
  await pay()
  const before = (await get('/__admin/clock')).text
  const calls: [string, object | undefined][] = [
    ['advance', { by: '1h' }],
    ['advance', { by: '10ms' }],
    ['advance', { to: '2027-01-01T00:00:00Z' }],
    ['next', undefined],
    ['freeze', { at: '2026-01-01T00:00:02Z' }],
    ['freeze', { at: '2026-01-01T00:00:00.010Z' }],
    ['freeze', undefined],
  ]
  full(1)
  for (const [path, body] of calls) {
    const { status, body: received } = await post(`/__admin/clock/${path}`, body)
    t.match(
      [status, received],
      [503, { error: 'storage_unavailable', message: /nothing was changed/ }],
    )
    t.equal((await get('/__admin/clock')).text, before, `${path} ${JSON.stringify(body)}`)
  }
  // The disk fills while time goes by.
  let fills = true
  watchChanges(sandbox.default, ({ type }) => {
    if (fills && type === 'transaction.processing') full(1)
  })
  for (const path of ['advance', 'freeze']) {
    state.fault = undefined
    await post('/__admin/reset')
    await pay()
    const body = path === 'advance' ? { by: '1h' } : { at: '2026-01-01T01:00:00Z' }
    const { status, headers, body: received } = await post(`/__admin/clock/${path}`, body)
    t.match([status, headers], [503, { 'retry-after': '1' }])
    t.match(received.message, /the clock stopped at 2026-01-01T00:00:01\.000Z/)
    t.notMatch(received.message, /nothing/)
    t.match((await get('/__admin/clock')).body, {
      now: '2026-01-01T00:00:01.000Z',
      pending_timers: 1,
    })
  }
  fills = false
  state.fault = undefined
  t.match((await post('/__admin/clock/advance', { by: '1h' })).body, {
    now: '2026-01-01T01:00:01.000Z',
    fired: [{ status: 'SUCCESS' }],
  })
})
