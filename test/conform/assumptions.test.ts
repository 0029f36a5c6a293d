import t from 'tap'
import { ASSUMPTIONS } from '../../src/assumptions/list.ts'
import { DEFAULT_READINGS } from '../../src/assumptions/readings.ts'
import { conform } from '../../src/conform/conform.ts'
import { assumeOptions } from '../../src/conform/measure.ts'
import { MEASURES } from '../../src/conform/measures.ts'
import { lines, sandbox } from './proxy.ts'

/** Checks a sandbox of these readings. */
async function check(t: Tap, assume: Record<string, string>, write = true) {
  const { url, token } = await sandbox(t, { assume })
  return conform({ base: url, token, write })
}
type Tap = Parameters<typeof sandbox>[0]

const readingsOf = ({ assumptions }: Awaited<ReturnType<typeof conform>>) =>
  Object.fromEntries(assumptions.map(({ name, reading }) => [name, reading]))

t.test('the default readings are measured, each with what shows it', async (t) => {
  const report = await check(t, {})
  const names = Object.keys(MEASURES).sort()
  t.strictSame(Object.keys(readingsOf(report)).sort(), names)
  for (const { name, reading, evidence } of report.assumptions) {
    t.equal(reading, DEFAULT_READINGS[name], name)
    t.match(evidence, /^(?:GET|POST) \/.+: .+/, name)
  }
  t.strictSame(assumeOptions(report.assumptions), [])
})

t.test('without --write only reads are measured', async (t) => {
  const report = await check(t, {}, false)
  t.strictSame(Object.keys(readingsOf(report)), [
    'unknown_request_fields',
    'limit_parameter',
    'largest_page',
    'empty_query_value',
    'trailing_slash',
    'list_order',
    'history_metadata',
    'missing_remark',
    'token',
  ])
})

t.test(
  'each other reading of a measured assumption is measured, and is no difference',
  async (t) => {
    for (const { name, default: usual, readings, form } of ASSUMPTIONS) {
      if (!Object.hasOwn(MEASURES, name)) continue
      const others = [...Object.keys(readings), ...(form ? [form.example] : [])]
      for (const reading of others.filter((one) => one !== usual)) {
        const label = `${name}=${reading}`
        const report = await check(t, { [name]: reading })
        t.equal(readingsOf(report)[name], reading, label)
        t.strictSame(assumeOptions(report.assumptions), [`--assume ${label}`])
        // A page of users is then smaller than the default size, which is a default of the sandbox.
        const notes = name === 'largest_page' ? ['GET /users data.limit: 50; 20'] : []
        t.strictSame(lines(report.notes), notes, label)
        // The contract requires a token for the history and the profile.
        if (label !== 'token=off') t.strictSame(lines(report.differs), [], label)
      }
    }
  },
)

t.test('several readings at a time are all measured', async (t) => {
  const assume = {
    idempotency_key: 'honoured',
    reference_id: 'ignored',
    duplicate_user: 'allowed',
    same_bank_account: 'new',
    list_order: 'oldest_first',
    token: 'strict',
  }
  t.match(readingsOf(await check(t, assume)), assume)
})
