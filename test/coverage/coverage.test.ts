import t, { type Test } from 'tap'
import { ASSUMPTIONS } from '../../src/assumptions/readings.ts'
import type { Coverage, CoverageGroup } from '../../src/model/coverage.ts'
import { type LifecycleKind, nextStatuses } from '../../src/model/payment.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { createCoverage } from '../../src/server.ts'
import { RESOURCES } from '../../src/tools/coverage/collector.ts'
import { CODES_SHOWN, coverageOf } from '../../src/tools/coverage/report.ts'
import {
  AADHAAR,
  ASHA,
  KABIR,
  PAN,
  pluck,
  ROHAN,
  type StartOptions,
  start as startOff,
  TOKEN,
  until,
} from '../helper.ts'
import { receiver, SECRET } from '../receiver.ts'

type Box = Awaited<ReturnType<typeof startOff>>

const startBox = async (t: Test, options: StartOptions = {}) =>
  startOff(t, { ...options, sandbox: { coverage: await createCoverage() } })

const groupOf = ({ groups }: Coverage, group: CoverageGroup) =>
  groups.find((one) => one.group === group)!
const metOf = (coverage: Coverage, group: CoverageGroup) =>
  groupOf(coverage, group)
    .items.filter(({ met }) => met)
    .map(({ subject, behaviour }) => `${subject} ${behaviour}`.replace('payment ', ''))
    .join(', ')
const coverage = async (box: Box) => (await box.get('/__admin/coverage')).body as Coverage
const met = async (box: Box, group: CoverageGroup) => metOf(await coverage(box), group)

t.test('what shows a status or a transition does, whatever client it is', async (t) => {
  const box = await startBox(t)
  for (const amount of [100.93, 100]) {
    const { body } = await box.pay({ amount })
    await box.advance('5s')
    await box.get(`/v1/transaction/${body.data[0].transaction_id}`, TOKEN)
  }
  const once = 'PENDING, SUCCESS, FAILED, PENDING to SUCCESS, PENDING to FAILED'
  t.equal(await met(box, 'money'), once)
  await box.post('/__admin/reset', {})
  t.equal(await met(box, 'money'), once, 'a reset clears nothing')
  for (const amount of [100.93, 100.96]) await box.pay({ amount })
  for (const by of ['1s', '2s', '10s']) {
    await box.advance(by)
    await box.get('/v1/transaction/history', TOKEN)
  }
  const kyc = ['999999990019', '999999990026'].map((n) => ({ ...AADHAAR, document_number: n }))
  kyc.push({ ...PAN, document_number: 'XXXPX0003A' }, PAN)
  await box.post('/@a/v1/kyc', { user_id: KABIR, kyc })
  for (const end of ['001', '006', '007', '101']) {
    const account = { account_number: `999900000${end}`, ifsc_code: 'HDFC0000001' }
    await box.post('/@a/v1/bank', { user_id: ROHAN, ...account })
  }
  await box.post('/@a/__admin/clock/advance', { by: '5s' })
  t.notMatch(await met(box, 'kyc'), ' to ', 'what nobody reads was not met')
  await box.get(`/@a/v1/kyc/${KABIR}`)
  await box.get(`/@a/v1/bank/${ROHAN}`)
  const steps = (first: string, then: string) => [{ status: first }, { status: then, after: '5s' }]
  await box.post('/__admin/rules', {
    when: { operation: 'POST /transaction' },
    then: { transaction: [{ status: 'PENDING' }, ...steps('FAILED', 'SUCCESS')] },
  })
  await box.post('/__admin/rules', {
    when: { operation: 'POST /kyc' },
    then: { kyc: steps('failed', 'success') },
  })
  await box.pay()
  await box.post('/v1/kyc', { user_id: KABIR, kyc: [PAN] })
  for (const by of ['0s', '5s']) {
    await box.advance(by)
    await box.get('/v1/transaction/history', TOKEN)
    await box.get(`/v1/kyc/${KABIR}`)
  }
  for (const group of ['money', 'kyc', 'accounts'] as const)
    t.equal(groupOf(await coverage(box), group).percent, 100, group)
})

t.test('calls count by their outcome, but not those of the sandbox itself', async (t) => {
  const box = await startBox(t)
  for (const own of [{ 'user-agent': 'payout-sandbox' }, { 'sec-fetch-site': 'same-origin' }])
    await box.get('/v1/users?page=2', own)
  t.equal((await met(box, 'calls')) + (await met(box, 'lists')), '')
  await box.get('/v1/users?page=2')
  await box.get('/v1/users?page=99')
  t.equal(await met(box, 'lists'), 'listUsers a page after the first')
  await box.get('/v1/users?page=3')
  t.match(await met(box, 'lists'), 'listUsers the last of several pages')
  await box.get('/v1/user/x')
  await box.get('/v1/user/00000000-0000-4000-8000-0000000000ff')
  const { url } = await box.listen()
  const respond = { status: 502, body: {} }
  for (const then of [{ fault: 'reset' }, { fault: 'truncate' }, { respond }, { fault: 'hang' }]) {
    await box.post('/__admin/rules', { when: { operation: 'getUser' }, then, times: 1 })
    const gone = new AbortController()
    const sent = fetch(`${url}/v1/user/${ASHA}`, { signal: gone.signal }).catch(() => {})
    const last = () => box.sandbox.default.requests.newestFirst()[0]
    if (then.fault === 'hang') await until(() => last()?.fault === 'hang').then(() => gone.abort())
    await sent
  }
  t.strictSame((await met(box, 'calls')).replaceAll('getUser ', '').split(', '), [
    ...['validation_failed', 'not_found', 'bad_gateway'],
    ...['no response', 'connection lost', 'broken body', 'listUsers 2xx'],
  ])
  t.equal(await met(box, 'money'), '', 'errors buy nothing for money')
})

t.test('events count when their receiver accepts them', async (t) => {
  const hook = await receiver(t)
  const box = await startBox(t)
  const pay = async (then: object, event = 'transaction.pending') => {
    await box.put('/__admin/scenario', { definition: { webhooks: [{ when: { event }, then }] } })
    await box.pay()
    await box.advance('20s')
    const own = (await met(box, 'webhooks')).split(', ').filter((one) => one.startsWith(event))
    return own.map((one) => one.replace(`${event} `, '')).join(', ')
  }
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  t.equal(await pay({ signature: 'wrong' }), '', 'what cannot be verified proves nothing')
  t.equal(await pay({ copies: 2 }), 'accepted, repeated')
  t.equal(await pay({ delay: '5s' }), 'accepted, repeated, late, out of order')
  const held = await pay({ hold_until: 'transaction.success' }, 'transaction.processing')
  t.equal(held, 'accepted, out of order')
  t.match(await met(box, 'money'), 'PENDING, PROCESSING, SUCCESS')
  hook.respondWith((_, response) => response.writeHead(500).end())
  await box.post('/v1/kyc', { user_id: KABIR, kyc: [PAN] })
  await box.advance('1s')
  const { url } = await box.listen()
  await box.put('/v1/clientWebhook', { url: `${url}/__admin/webhooks/inbox` })
  const { body } = await box.post('/__admin/webhooks/trigger', { event: 'user.created' })
  t.equal(body.deliveries[0].status, 'delivered')
  t.notMatch(await met(box, 'webhooks'), /kyc|user/)
  const fast = await startBox(t, { begin: { clock: 'real', clockSpeed: 100_000 } })
  await fast.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  hook.respondWith((_, response) => response.end())
  await fast.pay()
  await until(async () => (await met(fast, 'webhooks')).includes('success'))
  t.notMatch(await met(fast, 'webhooks'), 'late', 'a fast clock delays nothing')
})

t.test('a reading is met if a sweep has tried the others of a call that it concerns', async (t) => {
  const tried = (...readings: string[]) =>
    coverageOf(new Set(['calls listUsers: 2xx']), new Set(readings))
  t.equal(metOf(tried('list_order=oldest_first'), 'readings'), 'list_order default: guess')
  const { items, met } = groupOf(tried(), 'readings')
  t.equal(met, 0)
  t.match(items.at(-1), { subject: 'new_words', basis: 'guess', measurable: true })
  t.notOk(
    items.some(({ subject }) => subject === 'utr_form'),
    'no call concerns it',
  )
  const all = ASSUMPTIONS.flatMap(({ name, readings, form }) =>
    [...Object.keys(readings), form?.example].map((reading) => `${name}=${reading}`),
  )
  const untried = groupOf(tried(...all), 'readings').items.filter((one) => !one.met)
  t.strictSame(pluck(untried, 'subject'), ['token_lifetime', 'rate_limit'], 'no sweep can')
  t.strictSame(pluck(untried, 'measurable'), [false, false])
  t.equal(groupOf(coverageOf(new Set()), 'readings').percent, 0, 'nothing is not all')
})

t.test(
  'every item says what shows it, and only codes of HTTP and of the sandbox are none',
  async (t) => {
    const { groups } = coverageOf(new Set())
    for (const { items } of groups) t.ok(items.every(({ shown_by }) => shown_by))
    for (const [kind, { group, statuses }] of Object.entries(RESOURCES)) {
      const next = (from: string) => nextStatuses(kind as LifecycleKind, from, true)
      const steps = statuses.flatMap((from) => next(from).map((to) => `${from} to ${to}`))
      t.strictSame(pluck(groupOf({ groups }, group).items, 'behaviour'), [...statuses, ...steps])
    }
    const codes = new Set(OPERATIONS.flatMap(({ errors }) => errors))
    const others = [...codes].filter((code) => !CODES_SHOWN[code]).sort()
    t.equal(
      others.join(' '),
      'cross_site_rejected headers_too_large host_not_allowed internal_error json_too_deep malformed_json malformed_request not_ready payload_too_large request_timeout storage_unavailable unsupported_media_type',
    )
  },
)
