import t from 'tap'
import { ASSUMPTIONS, DEFAULT_READINGS } from '../../../src/assumptions/readings.ts'
import { conform, MEASURES } from '../../../src/tools/conform/conform.ts'
import { NOT_MEASURABLE } from '../../../src/tools/conform/measuring.ts'
import { assumeOptions } from '../../../src/tools/conform/report.ts'
import { WRITE_MEASURES } from '../../../src/tools/conform/write-measures.ts'
import { type Alter, held, sandbox } from './proxy.ts'

/** Checks a sandbox of these readings. */
async function check(t: Tap, assume: Record<string, string>, write = true) {
  const { url, token } = await sandbox(t, { assume })
  return conform({ base: url, token, write })
}
type Tap = Parameters<typeof sandbox>[0]

const readingsOf = ({ assumptions }: Awaited<ReturnType<typeof conform>>) =>
  Object.fromEntries(assumptions.map(({ name, reading }) => [name, reading]))

const reasonsOf = ({ not_measured }: Awaited<ReturnType<typeof conform>>) =>
  Object.fromEntries(not_measured.map(({ name, reason }) => [name, reason]))

// No fixture shows them; random-readings.test.ts makes payments that do.
const NEED_PAYMENTS = ['utr_form', 'utr_of_success']

t.test('each assumption has a measure, or a reason why it has none', (t) => {
  const names = [...Object.keys(MEASURES), ...Object.keys(NOT_MEASURABLE)]
  t.strictSame(names.sort(), ASSUMPTIONS.map(({ name }) => name).sort())
  t.end()
})

t.test('the default readings are measured, each with what shows it', async (t) => {
  const report = await check(t, {})
  const names = Object.keys(MEASURES).filter((name) => !NEED_PAYMENTS.includes(name))
  t.strictSame(Object.keys(readingsOf(report)).sort(), names.sort())
  t.strictSame(reasonsOf(report), {
    ...NOT_MEASURABLE,
    utr_form: 'no payment of more than 5 lakh rupees with a UTR was seen',
    utr_of_success: 'every SUCCESS that was seen has a UTR, which it can have got later',
  })
  for (const { name, reading, evidence } of report.assumptions) {
    t.equal(reading, DEFAULT_READINGS[name], name)
    t.match(evidence, /^(?:GET|POST) \/.+: .+/, name)
  }
  t.strictSame(assumeOptions(report), [])
})

t.test('without --write only reads are measured', async (t) => {
  const report = await check(t, {}, false)
  const reads = Object.keys(MEASURES).filter((name) => !Object.hasOwn(WRITE_MEASURES, name))
  t.strictSame(
    Object.keys(readingsOf(report)).sort(),
    reads.filter((name) => !NEED_PAYMENTS.includes(name)).sort(),
  )
  const { idempotency_key, rate_limit } = reasonsOf(report)
  t.equal(idempotency_key, 'measured with --write only')
  t.equal(rate_limit, NOT_MEASURABLE['rate_limit'])
})

const isError = ({ status }: { status: number }) => status >= 400

/** Services that have none of the readings, or several: the assumption, why, and what the service does. */
const UNCLEAR: readonly [name: string, reason: string, Record<string, Alter>][] = [
  [
    'error_body',
    'the responses differ from each other',
    {
      'GET /user/:userId': (passing) => {
        if (isError(passing)) passing.text = '{"message":"x"}'
      },
    },
  ],
  [
    'status_words',
    'the responses differ from each other',
    {
      'GET /bank/:userId': ({ status, body }) => {
        if (status === 200) for (const row of body.data) row.bank_status = 'rejected'
      },
    },
  ],
  [
    'own_request_fields',
    'no reading has this response: status 400',
    {
      'POST /user': (passing, { body }) => {
        if (body.includes('user_type')) passing.status = 400
      },
    },
  ],
  [
    'own_request_fields',
    'the user has no user_type',
    {
      'POST /user': ({ body }) => {
        if (body.data) delete body.data.user_type
      },
    },
  ],
  [
    'refused_bank_account',
    'the service refused no account',
    {
      'POST /bank': ({ body }) => {
        const result = body.data?.data?.metadata.response.data.result
        if (result) result.bankTxnStatus = true
      },
    },
  ],
  [
    'list_order',
    'the responses differ from each other',
    {
      'GET /users': ({ body }) => {
        const rows = body.data?.users ?? []
        rows.push(...rows.splice(0, 2))
      },
      'GET /transaction': ({ body }) => {
        const rows = body.data?.transactions ?? []
        rows.push(...rows.splice(0, 2))
      },
    },
  ],
]

t.test('a service that has none of the readings, or several, is not measured', async (t) => {
  for (const [name, reason, alterations] of UNCLEAR) {
    const report = await held(t, alterations, { write: true })
    t.equal(readingsOf(report)[name], undefined, name)
    t.equal(reasonsOf(report)[name], reason, name)
  }
})
