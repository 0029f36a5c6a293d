import { createServer } from 'node:http'
import t from 'tap'
import { sweepJson } from '../../../src/tools/sweep/report/sweep-json.ts'
import { portOf } from '../../listening.ts'
import { faultsWith, short, smallClient } from './small-client.ts'

const CLAIM = "writeFileSync(here + '/' + new URL(url).port, '', { flag: 'wx' })\n"
const PAYS = 'if (!(await find())) await pay()\n'
const BOTH_PAY = ['two_workers', 'race', 'race', 'race', 'race']

for (const { name, code, twice, safe } of [
  { name: 'that looks before it pays', code: PAYS, twice: BOTH_PAY, safe: [] },
  {
    name: 'that claims before it looks, where the second one gives up',
    code: `await get('t0000000-0000-4000-8000-000000000001').catch(() => {})\n${CLAIM}${PAYS}`,
    twice: [],
    safe: ['two_workers'],
  },
  {
    name: 'whose second one always fails',
    code: `${PAYS}if (token.endsWith('2')) throw new Error('no port')\n`,
    twice: BOTH_PAY,
    safe: [],
  },
])
  t.test(`two workers of a client ${name}`, async (t) => {
    const only = ['two_workers', 'race & listTransactions', 'race & createTransaction']
    const result = await smallClient(t, code).sweep({ workers: 2, only })
    const { workers, ...json } = { workers: 2, ...sweepJson(result) }
    t.strictSame(faultsWith(result, 'paid_twice'), twice)
    t.strictSame(faultsWith(result, 'failed_safely'), safe)
    const said = json.not_proven.join()
    t.equal(said.includes('No two calls of the workers met'), safe.length > 0)
    t.equal(said.includes('Worker 2 failed in every run'), code.includes('no port'))
    for (const { steps } of json.findings) {
      const senders = steps.map(({ run }) => run?.worker).filter((one) => one != null)
      t.strictSame([...new Set(senders)].sort(), [1, workers], 'the calls of both are shown')
    }
  })

t.test('both orders are tried, and the second one only if two calls have met', async (t) => {
  const only = ['race & createTransaction']
  const racing = 'await Promise.all([pay(), pay()])\n'
  for (const [code, reached, pruned] of [
    [racing, [1, 2], []],
    ['await pay()\nawait pay()\n', [], ['no two of these calls were under way at once']],
  ] as const) {
    const result = await smallClient(t, code).sweep({ only, jobs: 1 })
    const met = result.runs.filter(({ verdict }) => verdict !== 'not_reached')
    t.strictSame(
      met.map(({ plan }) => plan[0]!.nth),
      reached,
    )
    t.strictSame(
      sweepJson(result).pruned.map(({ reason }) => reason.split(': ')[1]),
      pruned,
    )
  }
  const [first, second] = (
    await smallClient(t, 'if (!(await find())) await pay()\n').sweep({ only, workers: 2 })
  ).runs.map(({ observation }) =>
    observation.calls.filter(({ method }) => method === 'POST').map(({ worker }) => worker),
  )
  t.equal(`${first} ${second}`, '1,2 2,1')
})

t.test('workers that cannot run at once stop the sweep before its first fault', async (t) => {
  const silent = `if (token.endsWith('2')) throw new Error('no port')\n${PAYS}`
  const failing = `await pay()\nif (token.includes('~')) throw new Error('already running')\n`
  for (const [code, problem] of [
    [silent, /can't run as 2 workers: worker 2 ended without a call/],
    [failing, /can't run as 2 workers: each of them failed.*already running/s],
  ] as const)
    await t.rejects(smallClient(t, code).sweep({ workers: 2 }), { exitCode: 2, message: problem })
})

/** Books a payment by its event and by its poll; `isStale` forgets what the event said while the poll was on its way. */
const polling = (isStale: boolean) => `
let [status, booked] = ['pending', 0]
const settle = (old, word) => {
  if (word === 'success' && old !== 'success') booked++
  status = word
}
const take = ({ type }, response) => {
  if (type === 'transaction.success') settle(status, 'success')
  response.end()
}
await receiving(take, async () => {
  const { transaction_id: id } = await pay()
  await pass('1s')
  for (let n = 0; n < 3; n++) {
    const before = status
    const word = (await get(id)).transaction_status
    if (${isStale} || status !== 'success') settle(${isStale} ? before : status, word)
    await pass('1h')
  }
  if (booked !== 1) throw new Error('booked ' + booked + ' times')
})
`

t.test('an event meets a read of its payment, before it and after it', async (t) => {
  const only = ['event_before_read', 'event_after_read']
  const careful = await smallClient(t, polling(false)).sweep({ only })
  t.strictSame(faultsWith(careful, 'passed').sort(), only.toSorted())
  const stale = await smallClient(t, polling(true)).sweep({ only })
  t.strictSame(faultsWith(stale, 'relies_on').sort(), only.toSorted())
  t.match(stale.findings[0]!.happened, /booked 2 times/)
})

t.test('an event comes eight times at once', async (t) => {
  const only = ['copies_at_once']
  const receiver = (look: string) => `
let booked = 0
const seen = new Set()
const take = async ({ type, data }, response) => {
  const key = type + data.transaction_id
  ${look}
  if (type === 'transaction.success') booked++
  response.end()
}
await receiving(take, async () => {
  await pay()
  await pass('1h')
  if (booked !== 1) throw new Error('booked ' + booked + ' times')
})
`
  const LOOK = 'if (seen.has(key)) return response.end()\n'
  for (const [look, found] of [
    [`${LOOK}seen.add(key)`, []],
    [
      `${LOOK}await get(data.transaction_id)\nseen.add(key)`,
      ['error relies_on: copies_at_once transaction.success 1'],
    ],
  ] as const)
    t.strictSame(short(await smallClient(t, receiver(look)).sweep({ only })), found)
})

t.test('more runs happen at once while the machine is idle', async (t) => {
  let [running, most] = [0, 0]
  const server = createServer((_, response) => {
    most = Math.max(most, ++running)
    setTimeout(() => response.end(`${running--}`), 700)
  })
  const url = `http://127.0.0.1:${await portOf(t, server)}`
  const { sweep } = smallClient(t, `await send('GET', '${url}')\nawait pay()\n`)
  for (const isIdle of [true, false]) {
    const machine = { isIdle: () => isIdle, isBusy: () => !isIdle }
    await sweep({ only: ['respond_500', 'respond_503', 'delay'], jobs: 1, maxJobs: 3, machine })
    t.equal(most > 1, isIdle)
    most = 0
  }
})
