import { join } from 'node:path'
import t from 'tap'
import { startSandbox } from '../../src/index.ts'
import { type Answer, createLog, pluck, start } from '../helper.ts'

type Row = Answer['body']

t.test('live-demo warns of nothing in any client of the fixtures', async (t) => {
  const log = { ...createLog(), info() {} }
  const options = { randomSeed: 1, clock: 'frozen', clockSpeed: 1, scenario: 'live-demo' }
  const box = await start(t, { sandbox: { log, start: options } })
  t.ok(box.sandbox.clients.size > 2)
  for (const { clock } of box.sandbox.clients.values()) await clock.timers.advanceBy(2 * 3_600_000)
  t.strictSame(log.lines, [])
})

t.test('a sandbox starts with it two hours later, once', async (t) => {
  const options = { data: join(t.testdir(), 'db.json'), scenario: 'live-demo', clock: 'frozen' }
  for (const name of ['start', 'restart']) {
    const sandbox = await startSandbox(options)
    t.equal((await sandbox.admin.clock.get()).now, '2026-01-01T02:00:00.000Z', name)
    await sandbox.close()
  }
})

t.test('a client without users gets some, who pay each other', async (t) => {
  const log = createLog()
  const box = await start(t, { sandbox: { log } })
  const client = { name: 'new', fixtures: 'empty', scenario: 'live-demo' }
  await box.post('/__admin/clients', client)
  await box.post('/@new/__admin/clock/advance', { by: '40m' })
  const about = log.lines.filter((line) => line.startsWith('client "new": '))
  t.equal(about.length, new Set(about).size, 'what waits for them is told once')
  t.ok((await box.get('/@new/__admin/transactions')).body.total > 5)
})

t.test('live-demo: two minutes at speed 60 have something of everything', async (t) => {
  const box = await start(t)
  await box.app.listen({ port: 0, host: '127.0.0.1' })
  const usersNow = async () => (await box.get('/__admin/users')).body.total
  const payments = async (page = 1) =>
    (await box.get(`/__admin/transactions?limit=100&page=${page}`)).body
  const newPayments = async (): Promise<Row[]> => {
    const { total, transactions } = await payments()
    transactions.push(...(await payments(2)).transactions)
    return transactions.slice(0, total - before.payments)
  }
  const deliveries = async (query: string): Promise<Row[]> =>
    (await box.get(`/__admin/webhooks/deliveries?limit=100&${query}`)).body.deliveries
  const callsNow = async (): Promise<Row[]> => {
    const calls: Row[] = []
    for (let page = ''; ; ) {
      const { body } = await box.get(`/__admin/requests?limit=100${page}`)
      calls.push(...body.requests)
      if (!body.next) return calls
      page = `&cursor=${body.next}`
    }
  }
  const before = { users: await usersNow(), payments: (await payments()).total }
  await box.put('/__admin/scenario', { name: 'live-demo' })

  await t.test('in the first ten minutes', async (t) => {
    await box.advance('10m')
    t.equal(await usersNow(), before.users + 2)
    const made = await newPayments()
    t.ok(made.length >= 7, `${made.length} payments`)
    const types = new Set(pluck(made, 'transaction_type'))
    t.same([...types].sort(), ['credit', 'debit'])
    const states = new Set(made.map(({ history }) => history.status))
    for (const state of ['PROCESSING', 'SUCCESS', 'FAILED']) t.ok(states.has(state), state)
    const reasons = (await callsNow()).flatMap(({ status, reason }) =>
      reason ? [`${status} ${reason}`] : [],
    )
    for (const pattern of [/^400 amount must be/, /^404 No transaction/, /^409 This reference_id/])
      t.ok(
        reasons.some((reason) => pattern.test(reason)),
        `${pattern}`,
      )
  })

  await t.test('an outage of eight minutes hits calls, and ends', async (t) => {
    for (const [by, status] of [
      ['9m', 200],
      ['2m', 503],
      ['8m', 200],
    ] as const) {
      await box.advance(by)
      t.equal((await box.pay()).status, status, by)
    }
    await box.advance('1m')
    t.ok(
      (await callsNow()).some(
        ({ status, rule }) => status === 503 && rule === 'live-demo: bank outage',
      ),
    )
  })

  await t.test('after two hours', async (t) => {
    await box.advance('90m')
    const calls = await callsNow()
    t.ok(calls.length > 150 && calls.length < 360, `${calls.length} calls, no more than 3 a minute`)
    t.ok((await usersNow()) >= before.users + 15)
    const made = await newPayments()
    const sizes = new Set(made.map(({ amount }) => amount))
    t.ok(sizes.size >= 16 && sizes.has('1245000.00'), [...sizes].join(', '))
    const references = made.flatMap(({ reference_id: reference }) => reference ?? [])
    t.ok(references.length >= 50, `${references.length} have a reference`)
    t.equal(new Set(references).size, references.length, 'of its own')
    const people = new Set(made.flatMap((one) => [one.from_user_id, one.to_user_id]))
    t.ok(people.size >= 15, `${people.size} users take part`)
    const reasons = new Set(made.map(({ failure }) => failure?.reason).filter(Boolean))
    t.same([...reasons].sort(), [
      'bank_account_closed',
      'beneficiary_bank_offline',
      'beneficiary_bank_rejected',
      'npci_beneficiary_timeout',
      'transaction_limit_exceeded',
    ])
    const { body } = await box.get('/__admin/transactions?limit=1&search=78400.00+failed')
    const late = await box.get(`/__admin/transactions/${body.transactions[0].transaction_id}`)
    const steps = pluck(late.body.steps, 'status')
    t.same(steps, ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'], 'reversed after its success')
    t.match(late.body.decided_by, { by: 'rule', rule: 'live-demo: comes back after an hour' })
    for (const event of ['kyc.success', 'kyc.failed', 'kyc.pending', 'bank.success'])
      t.ok((await deliveries(`event=${event}`)).length >= 3, event)
  })

  await t.test('the inbox has every event; a failure needs a retry', async (t) => {
    await box.advance('10s')
    const failures = await deliveries('event=transaction.failed')
    t.ok(failures.length >= 8)
    for (const { status, attempts } of failures) {
      t.equal(status, 'delivered')
      t.match(attempts, [{ error: { code: 'lost' } }, { error: null }])
    }
    t.same(await deliveries('status=failed'), [])
    const { messages } = (await box.get('/__admin/webhooks/inbox?limit=100')).body
    t.equal(messages.length, 100)
    t.ok(messages.every(({ verified }: { verified: boolean }) => verified))
    const failed = messages.filter(({ type }: { type: string }) => type === 'transaction.failed')
    t.ok(failed.length > 0 && failed.every(({ attempt }: { attempt: number }) => attempt === 2))
  })
})
