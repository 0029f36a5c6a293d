import { createHash } from 'node:crypto'
import * as z from 'zod'
import { ASSUMPTIONS, type Measurement } from '../../assumptions/readings.ts'
import { readJson } from '../../config/files.ts'
import { BadOption } from '../../config/options.ts'
import { VERSION } from '../../config/package.ts'
import { countOf } from '../../model/words.ts'
import { wallNow } from '../../runtime/real-time.ts'
import { groupBy } from '../counting.ts'
import { markup } from '../report/markup.ts'
import { concernedBy } from './faults.ts'
import type { Run, SweepResult } from './faults-and-findings.ts'
import { adviceFor, findingOfRun } from './findings.ts'
import { commandText, notProven } from './report/sweep-json.ts'
import { doneText, lines, narrowTable, type Row, sentence } from './report/sweep-text.ts'
import { startStateOf } from './start-run.ts'
import type { SweepOptions } from './sweep.ts'

// In `name=a|b`, both readings.
const FAULTS = `
two_workers race event_before_read event_after_read copies_at_once
reset reset_after hang_after effect_after_timeout truncate_after respond_500 respond_503 respond_429 respond_504_after respond_html_after
respond_202_after delay slow slow_after late_response visible_after outage rate_limit token_expired kill kyc_failed kyc_pending bank_failed bank_pending
payment_failed payment_failed_late payment_late_success payment_late payment_stuck payment_reversed
copies hold_until together drop signature_wrong signature_missing signature_rotated timestamp_stale body_truncated
idempotency_key=ignored|honoured reference_id=stored|unique|ignored own_request_fields=ignored|accepted amount_as_text=accepted|refused
smallest_amount=1.00|0.01 unknown_request_fields=ignored|refused limit_parameter=ignored|honoured largest_page=100|5
empty_query_value=missing|refused trailing_slash=accepted|refused page_past_the_end=empty|not_found malformed_id=bad_request|not_found
unknown_id=not_found|empty email_format=strict|lenient mobile_format=strict|lenient account_number_format=letters_and_digits|digits
ifsc_case=accepted|refused processing_status=pending|processing status_words=plain|other list_order=newest_first|oldest_first
refused_bank_account=bank_txn_status_false|status_failure same_bank_account=conflict|existing|new unverified_account=accepted|refused
duplicate_user=allowed|conflict history_metadata=null|reason missing_remark=empty_text|null history_utr=whole|masked
user_history=payer|both_sides utr_form=by_amount|imps utr_of_success=later|with_status late_success=possible|never
kyc_bad_document=entry_fails|call_fails entry_status=true|false pid_and_tid=never|on_submission|on_success token=spec|strict
token_lifetime=endless rate_limit=none error_body=envelope|message_only|html new_words=none|some second_webhook=conflict|replaced
missing_webhook=not_found|null webhook_delivery=at_least_once|at_most_once|never webhook_order=independent|per_resource
webhook_signature=standard|hex_body|none webhook_body=envelope|resource`

/** The plans of a certificate, as options of a sweep. They never change: other plans are a profile with another name. */
export const PROFILE = {
  name: 'certify-1',
  flags: {
    points: 'first-last',
    depth: '1',
    'max-retries': '20',
    'max-time': '3650d',
    only: FAULTS.trim()
      .split(/\s+/)
      .flatMap((word) => {
        const [name, readings] = word.split('=')
        return readings?.split('|').map((one) => `${name}=${one}`) ?? word
      })
      .join(','),
  },
}

const textOf = (name: string) => z.string(`has no ${name}`).trim().min(1, `has no ${name}`)
const Entry = z.strictObject(
  {
    findings: z
      .array(textOf('name in its findings'), 'has no list of findings')
      .min(1, 'has no findings'),
    owner: textOf('owner'),
    reason: textOf('reason'),
    expires: z.iso.date('has no day such as 2027-03-31 in expires'),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `has the unknown field ${issue.keys}` : 'is no object',
  },
)
const Acceptances = z.array(Entry, 'is no list')
export type Acceptances = z.infer<typeof Acceptances>

/** The findings that somebody accepted. Throws `BadOption`. */
export function readAcceptances(file: string): Acceptances {
  try {
    return Acceptances.parse(readJson(file))
  } catch (error) {
    const { issues: [issue] = [], message } = error as z.ZodError
    const [at] = issue?.path ?? []
    const problem =
      at === undefined ? (issue?.message ?? message) : `entry ${Number(at) + 1} ${issue!.message}`
    throw new BadOption(
      `--accept ${file}${at === undefined ? '' : ':'} ${problem}; it takes a list such as [{"findings": ["not_paid: payment_failed createTransaction"], "owner": "Asha", "reason": "she pays these by hand", "expires": "2027-03-31"}]`,
    )
  }
}

/** The day on which acceptances must not have expired: today, if none is given. Throws `BadOption`. */
export function dayOf(value: unknown): string {
  const date = String(value ?? new Date(wallNow()).toISOString().slice(0, 10))
  if (z.iso.date().safeParse(date).success) return date
  throw new BadOption(`--date takes a day such as 2026-11-28, not ${JSON.stringify(value)}`)
}

type Certified = {
  result: SweepResult
  options: SweepOptions
  measured: Measurement | undefined
  acceptances: Acceptances
  /** The day of the certificate, such as 2026-11-28. */
  date: string
  commit: string
}

const byName = <T>(items: readonly T[], nameOf: (item: T) => string) =>
  [...groupBy(items, nameOf)].sort(([a], [b]) => (a < b ? -1 : 1))

/** What was done, to whichever call of a kind. How long a caller waits is measured, and never twice the same. */
const wordsOf = ({ what }: Run) =>
  what
    .replace(/\bthe \d+\w\w (?=(e?))/g, (_, e) => (e ? 'an ' : 'a '))
    .replace(/takes [\d.]+ s of the [\d.]+ s/, 'takes most of the time')

/** What was found, by verdict and faults; which calls of a kind showed it is no matter. `cause` is equal where the sweep sees one bug. */
function certifiedFindings({ result, acceptances, date }: Certified) {
  const { findings, flaky } = result
  const nameOf = (run: Run) => {
    const faults = run.plan.map(({ name, operation = '' }) => `${name} ${operation}`.trim())
    const verdict = flaky.includes(run) ? 'flaky' : run.verdict
    return `${verdict}: ${faults.join(' + ') || 'without any fault'}`
  }
  const groups = [...findings.map((one) => [one, ...one.same]), ...flaky.map((one) => [one])]
  const named = groups.flatMap((runs) => {
    const [cause] = runs.map(nameOf).sort()
    return runs.map((run) => ({ run, finding: nameOf(run), cause: cause! }))
  })
  return byName(named, ({ finding }) => finding).map(([finding, [{ run, cause }]]) => {
    const own = acceptances.filter(({ findings }) => findings.includes(finding))
    const accepted = own.find(({ expires }) => expires >= date)
    const { owner, reason, expires } = accepted ?? own[0] ?? {}
    const state = accepted ? 'accepted' : own[0] ? 'expired' : 'open'
    const advice = adviceFor(run)
    const { level } = run
    return { finding, cause, level, what: wordsOf(run), advice, state, owner, reason, expires }
  })
}

/** How many plans of each fault there were, how many met it, and how many of those passed. */
function certifiedFaults(result: SweepResult) {
  const failed = findingOfRun(result)
  return byName(result.runs, wordsOf).map(([fault, own]) => {
    const met = own.filter(({ verdict }) => verdict !== 'not_reached')
    const passed = met.filter(({ id }) => !failed.has(id)).length
    return { fault, plans: own.length, met: met.length, passed }
  })
}

const readingsOf = ({ result, options, measured }: Certified) => {
  const { inForce } = startStateOf(options)
  return ASSUMPTIONS.filter(({ name }) => concernedBy(name, result.baseline) > 0).map(
    ({ name }) => {
      const reading = inForce[name]!
      const isMeasured = measured?.readings[name] === reading
      const basis = isMeasured ? `measured on ${measured.measured_at.slice(0, 10)}` : 'guess'
      return { name, reading, basis }
    },
  )
}

export type Certificate = ReturnType<typeof certificateOf>

/** What a sweep of the profile showed. It has no time and no id of its own, so the same input gives the same bytes. */
export function certificateOf(certified: Certified) {
  const { result, acceptances, date, commit } = certified
  const { workers, ledger = null, probe = null, restart = false, options } = certified.options
  const { scenario, clock, 'clock-speed': speed } = options
  const findings = certifiedFindings(certified)
  const readings = readingsOf(certified)
  const guesses = readings.filter(({ basis }) => basis === 'guess').length
  const unused = acceptances
    .flatMap((one) => one.findings)
    .filter((name) => !findings.some(({ finding }) => finding === name))
  return {
    format: 'payout-sandbox-certificate/1',
    product: `payout-sandbox ${VERSION}`,
    profile: PROFILE.name,
    profile_sha256: createHash('sha256').update(JSON.stringify(PROFILE)).digest('hex'),
    date,
    command: commandText(result),
    commit,
    setup: { scenario, clock, speed, seed: result.seed, workers, ledger, probe, restart },
    open: findings.filter(({ state }) => state !== 'accepted').length,
    findings,
    faults: certifiedFaults(result),
    readings,
    not_proven: [
      ...notProven(result),
      guesses > 0 &&
        `${countOf(guesses, 'reading')} may be wrong: measure with conform --save FILE, and add --assume-file FILE.`,
      workers < 2 && 'Two workers at once: add --workers 2.',
      ledger === null && 'Your books: add --ledger.',
      !restart && 'Crashes: add --restart.',
      ...unused.map((name) => `There is no finding ${name}, which was accepted; remove it.`),
    ].filter((one) => typeof one === 'string'),
  }
}

// ---- for people

function resultText({ findings, faults }: Certificate) {
  const open = new Set(findings.filter(({ state }) => state !== 'accepted').map((one) => one.cause))
  const sum = (of: 'plans' | 'met' | 'passed') => faults.reduce((all, one) => all + one[of], 0)
  const runs = `${countOf(sum('plans'), 'plan')}, ${sum('met')} met, ${sum('passed')} passed`
  return `${open.size === 0 ? 'Nothing open' : `${countOf(open.size, 'finding')} open`}: ${runs}`
}

const FINDINGS_HEAD = ['what went wrong', 'level', 'what was done, and what to change']

/** A row for each cause, and those who accept it. */
const findingRows = ({ findings }: Certificate) =>
  byName(findings, ({ cause }) => cause).map(([, own]): Row => {
    const [{ finding, level, advice }] = own
    const states = own.map(({ state, owner, reason, expires }) =>
      sentence(state === 'open' ? state : `${state}: ${owner}, until ${expires}, ${reason}`),
    )
    const verdict = finding.split(':')[0]!
    const texts = [...doneText(own.map(({ what }) => what)), sentence(advice), ...new Set(states)]
    return [[verdict, level], texts]
  })

export const certificateText = (certificate: Certificate): string =>
  `${resultText(certificate)}\n
${narrowTable(FINDINGS_HEAD, findingRows(certificate), 'No findings.')}
What this does not prove:\n${lines(certificate.not_proven)}`

function htmlTable(title: string, head: readonly string[], rows: readonly (readonly unknown[])[]) {
  const cells = (tag: string, texts: readonly unknown[]) =>
    texts.map((one) => `<${tag}>${markup`${String(one ?? 'none')}`}</${tag}>`)
  return markup`<h2>${title}</h2>
<table>
<tr>${cells('th', head)}</tr>
${rows.map((row) => markup`<tr>${cells('td', row)}</tr>\n`)}</table>
`
}

/** The certificate as a page, without a script. */
export function certificatePage(certificate: Certificate): string {
  const { setup, findings: _, faults, readings, not_proven, ...facts } = certificate
  const { format: __, open: ___, ...shown } = facts
  return markup`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Certificate: ${resultText(certificate)}</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui; max-width: 70rem; margin: auto; padding: 1rem }
th, td { border-bottom: 1px solid; padding: .25rem .5rem; text-align: left; overflow-wrap: anywhere }
</style>
<h1>${resultText(certificate)}</h1>
${[
  htmlTable('What was certified', ['', ''], Object.entries({ ...shown, ...setup })),
  htmlTable(
    'Findings',
    FINDINGS_HEAD,
    findingRows(certificate).map(([cells, texts]) => [...cells, texts.join(' ')]),
  ),
  htmlTable(
    'What this does not prove',
    [''],
    not_proven.map((one) => [one]),
  ),
  htmlTable('Readings', ['assumption', 'reading', 'basis'], readings.map(Object.values)),
  htmlTable('Faults', ['fault', 'plans', 'met', 'passed'], faults.map(Object.values)),
]}</html>
`
}
