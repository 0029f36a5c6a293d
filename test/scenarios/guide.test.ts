import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { compileScenario } from '../../src/scenarios/compile.ts'
import { type Counter, createDecider } from '../../src/scenarios/decide.ts'
import type { EventName } from '../../src/scenarios/operations-and-events.ts'
import { readScenario } from '../../src/scenarios/read.ts'
import {
  type Answer,
  ASHA,
  KABIR,
  ROHAN,
  ROHANS_ACCOUNT,
  type StartOptions,
  start,
  TOKEN,
  watchChanges,
} from '../helper.ts'
import { manualTime } from '../manual-time.ts'

type Box = Awaited<ReturnType<typeof start>>

const guide = readFileSync(join(PACKAGE_ROOT, 'docs/scenarios.md'), 'utf8')
/** Scenarios that combine what the reference says. */
const MORE = [
  `title: No payments between one and three
rules:
  - when: { operation: POST /transaction, time: { from: "01:00", to: "03:00", zone: Asia/Kolkata } }
    then: { respond: { status: 503 } }
`,
  `title: Turns
rules:
  - { when: { operation: getTransaction }, key: params.transaction_id, then_on: pass,
      sequence: [{ respond: { status: 500 } }, pass, { respond: { status: 503 }, delay: 200ms..2s }] }
  - { when: { operation: { in: [listTransactions, listTransactionHistory] } }, skip: 2, then: { delay: PT1.5S } }
`,
  `title: A slow day with a rough line
extends: slow
rules:
  - { when: { operation: "*", headers: { X-Test: { absent: true } } }, chance: 0.1, then: { fault: reset } }
`,
]
const snippets = [
  ...[...guide.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => text!),
  ...MORE,
]

/** The snippet of the guide with these words in it, as a definition. */
function definitionOf(words: string) {
  const found = snippets.filter((text) => text.includes(words))
  if (found.length !== 1) throw new Error(`${found.length} snippets say ${words}`)
  const read = readScenario(found[0]!, { name: 'guide', file: 'guide' })
  if (!read.ok) throw new Error(read.problems[0]!.message)
  return read.scenario.definition
}

async function play(t: Test, words: string, options: StartOptions = {}) {
  const box = await start(t, options)
  const { status } = await box.put('/__admin/scenario', { definition: definitionOf(words) })
  t.equal(status, 200)
  return box
}

const idOf = ({ body }: Answer): string => body.data[0].transaction_id
const statusOf = (box: Box, id: string) => box.sandbox.default.payouts.payments.get(id).row.status
const usersOf = async (box: Box, headers?: Record<string, string>) =>
  (await box.get('/v1/users', headers)).status
async function inTurn<T>(count: number, run: (i: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  for (let i = 0; i < count; i++) done.push(await run(i))
  return done
}

t.test('a large payment hangs for 25 minutes and fails, a small one succeeds', async (t) => {
  const box = await play(t, 'Large payments are slow')
  const [large, small] = [
    idOf(await box.pay({ amount: 10_000 })),
    idOf(await box.pay({ amount: 9_999 })),
  ]
  const seen = () => [statusOf(box, large), statusOf(box, small)]
  t.strictSame(seen(), ['PENDING', 'PENDING'])
  await box.advance('3s')
  t.strictSame(seen(), ['PENDING', 'SUCCESS'])
  await box.advance('2s')
  t.equal(statusOf(box, large), 'PROCESSING')
  await box.advance('30m')
  t.equal(statusOf(box, large), 'FAILED')
  t.equal(
    box.sandbox.default.payouts.payments.get(large).row.failure?.reason,
    'beneficiary_bank_offline',
  )
})

t.test('the first PAN check of each user fails, the second succeeds', async (t) => {
  const box = await play(t, 'Everybody must try twice')
  const check = async (user_id: string, document_type: 'tid' | 'pid' = 'tid') => {
    const item = {
      document_type,
      document_name: document_type === 'tid' ? 'pan' : 'aadhar',
      document_number: document_type === 'tid' ? 'XXXPX1234A' : '999912341234',
      dateOfBirth: '01-02-1990',
      Nationality: 'IN',
      nameOnCard: 'A B',
    }
    const { body } = await box.post('/v1/kyc', { user_id, kyc: [item] })
    return [body.data[0].data.kyc_status, body.data[0].message]
  }
  t.equal((await check(KABIR, 'pid'))[0], 'pending', 'another document is as ever')
  t.strictSame(await check(KABIR), ['failed', 'PAN not found'])
  t.strictSame(await check(ROHAN), ['failed', 'PAN not found'])
  t.equal((await check(KABIR))[0], 'success')
  t.equal((await check(ROHAN))[0], 'success')
})

t.test('the provider is down for two minutes, then recovers', async (t) => {
  const box = await play(t, 'Down for two minutes')
  const answer = await box.get('/v1/users')
  t.strictSame([answer.status, answer.headers['retry-after']], [503, '120'])
  await box.advance('119s')
  t.equal(await usersOf(box), 503)
  await box.advance('1s')
  t.equal(await usersOf(box), 200)
})

t.test('one answer in twenty is lost, no payment is', async (t) => {
  async function lost() {
    const box = await play(t, 'One response in twenty is lost')
    await box.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = box.app.server.address() as AddressInfo
    const before = box.sandbox.default.tables.tables.payments.count('all', 'all')
    const body = { from_user_id: ASHA, to_user_id: ROHAN, benif_bank_id: ROHANS_ACCOUNT, amount: 5 }
    const met = await inTurn(100, () =>
      fetch(`http://127.0.0.1:${port}/v1/transaction`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify(body),
      }).then(
        () => 'received',
        () => 'lost',
      ),
    )
    t.equal(box.sandbox.default.tables.tables.payments.count('all', 'all'), before + 100)
    await box.close()
    return met
  }
  const met = await lost()
  const count = met.filter((one) => one === 'lost').length
  t.ok(count > 0 && count < 15, `${count} of 100`)
  t.strictSame(await lost(), met, 'the same each time')
})

t.test('webhooks come twice, late and in the wrong order', async (t) => {
  const counters = new Map<string, Counter>()
  const { decideWebhook } = createDecider({
    layers: [compileScenario(definitionOf('A rough day for a receiver'), 'guide')],
    counters: { get: (key) => counters.get(key), set: (key, one) => void counters.set(key, one) },
    chance: () => 0,
    now: () => 0,
    since: () => 0,
  })
  const outcome = (event: EventName) => decideWebhook({ event, data: {} })?.outcome
  const late = { minMs: 1_000, maxMs: 30_000 }
  t.match(outcome('transaction.pending'), { holdUntil: 'transaction.processing' })
  t.match(outcome('kyc.failed'), { fault: { signature: 'wrong' } })
  t.match(
    [1, 2, 3].map(() => outcome('transaction.failed')),
    [{ copies: [late, late, late] }, { copies: [late, late, late] }, undefined],
  )
})

t.test('a sequence takes turns for each payment; reads after the second are slow', async (t) => {
  const time = manualTime()
  const box = await play(t, 'title: Turns', { sandbox: { runtime: time.runtime } })
  const [one, two] = [idOf(await box.pay()), idOf(await box.pay())]
  const read = async (id: string) => (await box.get(`/v1/transaction/${id}`)).status
  t.strictSame([await read(one), await read(one), await read(two)], [500, 200, 500])
  const slow = box.get(`/v1/transaction/${one}`)
  await time.waiting()
  time.pass('2s')
  t.equal((await slow).status, 503)
  t.equal(await read(one), 200, 'the rule is done')
  for (const path of ['/v1/transaction', '/v1/transaction/history'])
    t.equal((await box.get(path, TOKEN)).status, 200)
  const third = box.get('/v1/transaction')
  let isAnswered = false
  void third.then(() => {
    isAnswered = true
  })
  await time.waiting()
  time.pass('1499ms')
  await new Promise(setImmediate)
  t.notOk(isAnswered)
  time.pass('1ms')
  t.equal((await third).status, 200)
})

t.test('a scenario over another has the rules of both', async (t) => {
  const time = manualTime()
  const options = { sandbox: { runtime: time.runtime } }
  const box = await play(t, 'A slow day with a rough line', options)
  const { app } = box
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const ask = async (headers: Record<string, string>) => {
    let met = ''
    void fetch(`http://127.0.0.1:${port}/v1/users`, {
      headers: { connection: 'close', ...headers },
    })
      .then(({ status }) => String(status))
      .catch(() => 'lost')
      .then((one) => {
        met = one
      })
    while (met === '' && time.left().length === 0) await new Promise(setImmediate)
    const isSlow = met === ''
    if (isSlow) time.pass('4s')
    while (met === '') await new Promise(setImmediate)
    return `${isSlow ? 'slow ' : ''}${met}`
  }
  const met = await inTurn(60, () => ask({}))
  t.strictSame([...new Set(met)].sort(), ['lost', 'slow 200'])
  t.strictSame([...new Set(await inTurn(60, () => ask({ 'x-test': '1' })))], ['slow 200'])
})

t.test('the timeline of the reference does all it says', async (t) => {
  const box = await play(t, 'create_users: 2')
  const seen: string[] = []
  watchChanges(box.sandbox.default, ({ type }) => void seen.push(type))
  const total = async () => (await box.get('/v1/users')).body.data.total_users
  const fresh = await total()
  const id = idOf(await box.pay())
  await box.post('/v1/user', { email: 'z@example.com', mobile: '9876543210' })
  await box.post('/v1/user', { email: 'y@example.com', mobile: '9876543211' })
  t.ok((await box.get('/__admin/scenario')).body.expect.every(({ met }: { met: boolean }) => met))
  await box.advance('10s')
  t.equal(
    seen.filter((type) => type === 'transaction.success').length,
    2,
    'its own, and the trigger',
  )
  await box.advance('50s')
  const { body } = await box.get('/v1/transaction/history', TOKEN)
  t.match(body.data.transactions[0], { amount: '2500.00' })
  await box.advance('30s')
  t.equal(statusOf(box, id), 'SUCCESS', 'not the latest any more')
  t.ok(seen.includes('transaction.failed'), 'the latest one failed')
  await box.advance('30s')
  t.strictSame([await usersOf(box), await usersOf(box)], [500, 200])
  await box.advance('1h')
  t.equal(await total(), fresh - 2, 'a reset to the start scenario')
})

t.test('every third payment gets 504, and is made', async (t) => {
  const box = await play(t, 'Every third response is lost at the gateway')
  const total = async () => (await box.get('/v1/transaction')).body.data.total_transation
  const before = await total()
  const statuses = await inTurn(6, async () => (await box.pay()).status)
  t.strictSame(statuses, [200, 200, 504, 200, 200, 504])
  t.equal(await total(), before + 6)
})

t.test('no payments between one and three, in India', async (t) => {
  const box = await play(t, 'No payments between one and three')
  const at = async (instant: string) => {
    await box.post('/__admin/clock/freeze', { at: instant })
    return (await box.pay()).status
  }
  t.strictSame(
    [
      await at('2026-03-01T19:29:59.000Z'),
      await at('2026-03-01T19:30:00.000Z'),
      await at('2026-03-01T21:29:59.000Z'),
      await at('2026-03-01T21:30:00.000Z'),
    ],
    [200, 503, 503, 200],
  )
})
