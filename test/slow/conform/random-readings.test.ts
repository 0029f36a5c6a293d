import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Assumption } from '../../../src/assumptions/assumption.ts'
import { ASSUMPTIONS, DEFAULT_READINGS, type Readings } from '../../../src/assumptions/readings.ts'
import { startSandbox } from '../../../src/index.ts'
import { conform } from '../../../src/tools/conform/conform.ts'
import type { Finding } from '../../../src/tools/conform/findings.ts'
import { NOT_MEASURABLE } from '../../../src/tools/conform/measuring.ts'
import { assumeOptions } from '../../../src/tools/conform/report.ts'
import { seeded } from '../torture/part.ts'
import { FIXTURES, PAYMENT } from '../torture/two-users.ts'

const SETS = 50
const MEASURABLE = ASSUMPTIONS.filter(({ name }) => !Object.hasOwn(NOT_MEASURABLE, name))

/** Every row is on the first page of its list, if a page has room for them. */
const ALL_ROWS = 10

/** A small page hides what only other rows show. */
const OF_ROWS = [
  'limit_parameter',
  'list_order',
  'processing_status',
  'history_metadata',
  'missing_remark',
  'utr_form',
  'history_utr',
  'utr_of_success',
]

/** What only a payment that conform makes itself shows. */
const OF_OWN_PAYMENTS = ['idempotency_key', 'reference_id', 'amount_as_text', 'user_history']

/** Whether another reading of the set can hide this one; then it may be not measured, and never wrong. */
function canBeHidden(name: string, readings: Readings): boolean {
  if (Number(readings['largest_page']) < ALL_ROWS && OF_ROWS.includes(name)) return true
  // conform pays one rupee.
  if (readings['smallest_amount'] === '100.00' && OF_OWN_PAYMENTS.includes(name)) return true
  if (name === 'entry_status' || name === 'pid_and_tid')
    return readings['kyc_bad_document'] === 'call_fails'
  // One payment in four that is PROCESSING then shows a word that the contract does not list.
  return readings['new_words'] === 'some' && name === 'processing_status'
}

const place = ({ endpoint, field }: Finding) => `${endpoint} ${field}`

/**
 * Whether these readings explain a finding. The contract lists the fields and words of each object, shows pages of 10 and
 * 50 rows, and requires a token for the history and the profile.
 */
function isExplained(place: string, readings: Readings): boolean {
  if (readings['new_words'] === 'some' && /new_field$|_status$/.test(place)) return true
  if (readings['smallest_amount'] === '100.00' && place === 'POST /transaction HTTP status')
    return true
  if (readings['token'] === 'off' && /(?:history|profile).* HTTP status$/.test(place)) return true
  return Number(readings['largest_page']) < 50 && / data\.limit$/.test(place)
}

/** No response shows it: a UTR that was seen could also have come after the status. */
const isUnseen = (name: string, reading: string) =>
  name === 'utr_of_success' && reading === 'with_status'

function draw({ readings, form }: Assumption, random: (below: number) => number): string {
  const names = Object.keys(readings)
  // `largest_page` is the only form here; half of its pages are too small for all rows.
  if (form) return String(1 + random(random(2) === 0 ? ALL_ROWS : 10_000))
  return names[random(names.length)]!
}

/** A service with these readings, and payments of each status. */
async function service(fixtures: string, assume: Readings) {
  const sandbox = await startSandbox({ clock: 'frozen', logLevel: 'silent', fixtures, assume })
  const pay = async (amount: number) => {
    const { status } = await fetch(`${sandbox.url}/transaction`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${sandbox.token}` },
      body: JSON.stringify({ ...PAYMENT, amount }),
    })
    t.equal(status, 200)
  }
  // One that fails, one that stays PROCESSING (docs/scenarios.md: Magic values), and one that gets a long UTR.
  for (const amount of [100.93, 100.94, 600_000]) await pay(amount)
  await sandbox.admin.clock.advance('10s')
  await pay(200)
  await sandbox.admin.clock.advance('3s')
  return sandbox
}

t.test(`${SETS} sets of random readings are measured as they are`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'readings-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const fixtures = join(folder, 'fixtures.json')
  writeFileSync(fixtures, JSON.stringify(FIXTURES))
  const chance = seeded(16)
  const random = (below: number) => Math.floor(chance() * below)
  const seen = new Set<string>()
  for (let set = 0; set < SETS; set++) {
    const assume = Object.fromEntries(MEASURABLE.map((one) => [one.name, draw(one, random)]))
    const { url, token, close } = await service(fixtures, assume)
    const report = await conform({ base: url, token, write: true })
    await close()
    const found = Object.fromEntries(report.assumptions.map((one) => [one.name, one.reading]))
    for (const { name } of report.assumptions) seen.add(`${name}=${found[name]}`)
    const expected = MEASURABLE.map(({ name }) => [name, assume[name]!] as const).filter(
      ([name, reading]) =>
        found[name] !== undefined || !(isUnseen(name, reading) || canBeHidden(name, assume)),
    )
    const label = `set ${set}: ${JSON.stringify(assume)}`
    t.strictSame(found, Object.fromEntries(expected), label)
    t.strictSame(
      assumeOptions(report),
      Object.entries(found)
        .filter(([name, reading]) => reading !== DEFAULT_READINGS[name])
        .map(([name, reading]) => `--assume ${name}=${reading}`),
      label,
    )
    const places = [...report.differs, ...report.notes].map(place)
    t.strictSame(
      places.filter((one) => !isExplained(one, assume)),
      [],
      label,
    )
  }
  const missing = MEASURABLE.flatMap(({ name, readings, form }) =>
    form ? [] : Object.keys(readings).map((reading) => [name, reading] as const),
  ).filter(([name, reading]) => !isUnseen(name, reading) && !seen.has(`${name}=${reading}`))
  t.strictSame(missing, [], 'every reading was measured at least once')
})
