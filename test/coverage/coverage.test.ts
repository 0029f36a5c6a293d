import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { coverageJsonSchema } from '../../scripts/coverage-schema.ts'
import { ASSUMPTIONS } from '../../src/assumptions/readings.ts'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import type { Coverage, CoverageGroup } from '../../src/model/coverage.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { CODES_SHOWN, coverageOf } from '../../src/tools/coverage/report.ts'
import { AADHAAR, ASHA, KABIR, PAN, ROHAN, start as startBox, TOKEN } from '../helper.ts'
import { receiver, SECRET } from '../receiver.ts'

type Box = Awaited<ReturnType<typeof startBox>>

const metOf = ({ groups }: Coverage, group: CoverageGroup) =>
  groups
    .find((one) => one.group === group)!
    .items.filter(({ met }) => met)
    .map(({ subject, behaviour }) => `${subject}: ${behaviour}`)
const met = async (box: Box, group: CoverageGroup) =>
  metOf((await box.get('/__admin/coverage')).body, group)
const percentOf = async (box: Box, group: CoverageGroup) =>
  (await box.get('/__admin/coverage')).body.groups.find(
    (one: { group: string }) => one.group === group,
  )

t.test('what shows a status or a transition does, whatever client it is', async (t) => {
  const box = await startBox(t)
  const history = (client = '') => box.get(`${client}/v1/transaction/history`, TOKEN)
  for (const amount of [100.93, 100]) {
    const { body } = await box.pay({ amount })
    const read = () => box.get(`/v1/transaction/${body.data[0].transaction_id}`, TOKEN)
    await box.advance('5s')
    await read()
  }
  t.strictSame(await met(box, 'money'), [
    'payment: PENDING',
    'payment: SUCCESS',
    'payment: FAILED',
    'payment: PENDING to SUCCESS',
    'payment: PENDING to FAILED',
  ])
  await box.post('/__admin/reset', {})
  for (const amount of [100.93, 100.96]) await box.pay({ amount })
  for (const by of ['1s', '2s', '10s']) {
    await box.advance(by)
    await history()
  }
  t.strictSame(await percentOf(box, 'money').then(({ percent }) => percent), 100)
  const documents = ['999999990019', '999999990026'].map((n) => ({
    ...AADHAAR,
    document_number: n,
  }))
  const bad = { ...PAN, document_number: 'XXXPX0003A' }
  await box.post('/@a/v1/kyc', { user_id: KABIR, kyc: [...documents, bad, PAN] })
  const accounts = ['999900000001', '999900000006', '999900000007', '999900000101']
  for (const account_number of accounts)
    await box.post('/@a/v1/bank', { user_id: ROHAN, account_number, ifsc_code: 'HDFC0000001' })
  await box.post('/@a/__admin/clock/advance', { by: '5s' })
  t.equal((await met(box, 'kyc')).length, 3, 'what nobody reads was not met')
  await box.get(`/@a/v1/kyc/${KABIR}`)
  await box.get(`/@a/v1/bank/${ROHAN}`)
  for (const group of ['kyc', 'accounts'] as const)
    t.equal((await percentOf(box, group)).percent, 100, group)
})

t.test('calls count by their outcome, but not those of the sandbox itself', async (t) => {
  const box = await startBox(t)
  for (const own of [{ 'user-agent': 'payout-sandbox' }, { 'sec-fetch-site': 'same-origin' }])
    await box.get('/v1/users?page=2', own)
  t.strictSame(await met(box, 'calls'), [])
  t.strictSame(await met(box, 'lists'), [])
  await box.get('/v1/users?page=2')
  await box.get('/v1/users?page=99')
  t.strictSame(await met(box, 'lists'), ['listUsers: a page after the first'])
  await box.get('/v1/users?page=3')
  t.strictSame((await met(box, 'lists'))[1], 'listUsers: the last of several pages')
  await box.get('/v1/user/x')
  await box.get('/v1/user/00000000-0000-4000-8000-0000000000ff')
  for (const then of [
    { fault: 'reset' },
    { fault: 'truncate' },
    { respond: { status: 502, body: {} } },
  ]) {
    await box.post('/__admin/rules', { when: { operation: 'getUser' }, then, times: 1 })
    await box.app.inject({ url: `/v1/user/${ASHA}` }).catch(() => {})
  }
  const { url } = await box.listen()
  await box.post('/__admin/rules', { when: { operation: 'getUser' }, then: { fault: 'hang' } })
  await t.rejects(fetch(`${url}/v1/user/${ASHA}`, { signal: AbortSignal.timeout(200) }))
  t.strictSame(
    await met(box, 'calls'),
    [
      'getUser: 2xx',
      'getUser: validation_failed',
      'getUser: not_found',
      'getUser: bad_gateway',
      'getUser: no response',
      'getUser: connection lost',
      'getUser: broken body',
      'listUsers: 2xx',
    ].filter((one) => one !== 'getUser: 2xx'),
  )
  t.equal((await percentOf(box, 'money')).met, 0, 'errors buy nothing for money')
})

t.test('events count when their receiver accepts them', async (t) => {
  const hook = await receiver(t)
  const box = await startBox(t)
  const pay = async (then: object, event = 'transaction.pending') => {
    await box.put('/__admin/scenario', { definition: { webhooks: [{ when: { event }, then }] } })
    await box.pay()
    await box.advance('20s')
    return (await met(box, 'webhooks'))
      .filter((one) => one.startsWith(event))
      .map((one) => one.split(': ')[1])
  }
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  t.strictSame(await pay({ signature: 'wrong' }), [], 'what cannot be verified proves nothing')
  t.strictSame(await pay({ copies: 2 }), ['accepted', 'repeated'])
  t.strictSame(await pay({ delay: '5s' }), ['accepted', 'repeated', 'late', 'out of order'])
  t.strictSame(await pay({ hold_until: 'transaction.success' }, 'transaction.processing'), [
    'accepted',
    'out of order',
  ])
  hook.respondWith((_, response) => response.writeHead(500).end())
  await box.post('/v1/kyc', { user_id: KABIR, kyc: [PAN] })
  await box.advance('1s')
  t.strictSame(await met(box, 'kyc'), ['KYC record: success'], 'its response')
  t.notOk((await met(box, 'webhooks')).some((one) => one.startsWith('kyc')))
  t.match(await met(box, 'money'), ['payment: PENDING', 'payment: PROCESSING', 'payment: SUCCESS'])
})

t.test('a reading is met if a sweep has tried the others of a call that it concerns', (t) => {
  const seen = new Set(['calls listUsers: 2xx'])
  const group = (tried: string[]) =>
    coverageOf(seen, new Set(tried)).groups.find((one) => one.group === 'readings')!
  t.strictSame(metOf(coverageOf(seen, new Set(['list_order=oldest_first'])), 'readings'), [
    'list_order: each reading (default: guess)',
  ])
  t.equal(group([]).met, 0)
  t.match(
    group([]).items.find(({ subject }) => subject === 'rate_limit'),
    { measurable: false },
  )
  t.notOk(
    group([]).items.some(({ subject }) => subject === 'same_bank_account'),
    'no call concerns it',
  )
  const all = ASSUMPTIONS.flatMap(({ name, readings, form }) =>
    [...Object.keys(readings), form?.example].map((reading) => `${name}=${reading}`),
  )
  const untried = group(all).items.filter((one) => !one.met)
  t.strictSame(
    untried.map(({ subject }) => subject),
    ['token_lifetime', 'rate_limit'],
    'no sweep can',
  )
  t.equal(coverageOf(new Set()).groups.at(-1)!.percent, 0, 'nothing is not all')
  t.end()
})

t.test(
  'every item says what shows it; each code of the service is an item or left out on purpose',
  (t) => {
    const { groups } = coverageOf(new Set())
    for (const { items } of groups)
      for (const item of items) t.ok(item.shown_by, `${item.subject} ${item.behaviour}`)
    const others = new Set(
      OPERATIONS.flatMap(({ errors }) => errors).filter((code) => !CODES_SHOWN[code]),
    )
    t.strictSame([...others].sort(), [
      'cross_site_rejected',
      'headers_too_large',
      'host_not_allowed',
      'internal_error',
      'json_too_deep',
      'malformed_json',
      'malformed_request',
      'payload_too_large',
      'request_timeout',
      'storage_unavailable',
      'unsupported_media_type',
    ])
    const file = readFileSync(join(PACKAGE_ROOT, 'docs/coverage.schema.json'), 'utf8')
    t.equal(file, coverageJsonSchema(), 'run node --import tsx scripts/coverage-schema.ts')
    t.end()
  },
)
