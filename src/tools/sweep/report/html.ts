import { createHash } from 'node:crypto'
import { COVERAGE_HEAD, coverageCounts, coverageRows } from '../../../model/coverage.ts'
import { type Markup, markup } from '../../report/markup.ts'
import {
  assumptionOf,
  type Fault,
  type Finding,
  type Observation,
  type Run,
  type SeenPayment,
  type SweepResult,
  VERDICTS,
  type Verdict,
} from '../faults-and-findings.ts'
import { notProven } from './not-proven.ts'
import { type Row, type Step, sideBySide } from './steps.ts'
import { STYLE } from './style.ts'
import { commandText, countsText, findingNames, verdictCounts } from './sweep-json.ts'

/** The word of a verdict in its colour; it leads to the finding, if the run is one. */
export const verdictMark = ({ verdict, level }: Run, finding?: string): Markup => {
  const word = markup`<span class="verdict ${level}">${verdict.replaceAll('_', ' ')}</span>`
  return finding === undefined ? word : markup`<a href="#${finding}">${word}</a>`
}

type Cell = { run: Run; label?: string }

const READING = 'other reading'
const KINDS: Readonly<Record<Fault['kind'], string>> = {
  call: 'Calls',
  lifecycle: 'Payments and records',
  webhook: 'Webhooks',
  assumption: 'Readings of the contract',
}

/** Where a fault happens: the row of the matrix. */
const pointOf = (fault: Fault): string =>
  assumptionOf(fault) ?? [fault.operation, fault.nth].filter((one) => one !== undefined).join(' ')

/** The reading that a fault chooses. */
const readingOf = ({ scenario: { assume = {} } }: Fault): string => Object.values(assume).join(', ')

function matrixOf(
  kind: Fault['kind'],
  runs: readonly Run[],
  findings: ReadonlyMap<number, string>,
) {
  const rows = new Map<string, Map<string, Cell[]>>()
  const columns = new Set<string>()
  for (const run of runs) {
    const [fault] = run.plan as [Fault]
    const isReading = fault.operation === undefined
    const column = isReading ? READING : fault.name
    columns.add(column)
    const row = rows.get(pointOf(fault)) ?? new Map<string, Cell[]>()
    rows.set(pointOf(fault), row)
    const cell: Cell = isReading ? { run, label: readingOf(fault) } : { run }
    row.set(column, [...(row.get(column) ?? []), cell])
  }
  const cellOf = ({ run, label }: Cell) =>
    markup`<div>${label && markup`<code>${label}</code> `}${verdictMark(run, findings.get(run.id))}</div>`
  const head = [...columns].map((name) => markup`<th scope="col">${name.replaceAll('_', ' ')}</th>`)
  const body = [...rows].map(
    ([point, cells]) => markup`<tr><th scope="row">${point}</th>${[...columns].map(
      (name) => markup`<td>${(cells.get(name) ?? []).map(cellOf)}</td>`,
    )}</tr>
`,
  )
  return markup`<h3>${KINDS[kind]}</h3>
<div class="wide" tabindex="0" role="region" aria-label="${KINDS[kind]}"><table>
<thead><tr><th scope="col">point</th>${head}</tr></thead>
<tbody>
${body}</tbody></table></div>
`
}

/** A matrix of points and faults for each kind of fault: what each run with a single fault showed. */
export function matrices({ runs, findings }: SweepResult): Markup[] {
  const names = findingNames({ findings })
  return (Object.keys(KINDS) as Fault['kind'][]).flatMap((kind) => {
    const found = runs.filter(({ plan }) => plan.length === 1 && plan[0]!.kind === kind)
    return found.length === 0 ? [] : [matrixOf(kind, found, names)]
  })
}

const rupees = (paise: number) => (paise / 100).toFixed(2)

function stepCell(step: Step | undefined, label: string): Markup {
  if (!step) return markup`<td class="none"><span class="side">${label}</span>–</td>`
  const { kind, what, answer, changed, atMs, times } = step
  // The real time of an event is unknown if the sandbox ran already.
  const at = Number.isNaN(atMs) ? '' : `${Math.round(atMs)} ms`
  return markup`<td class="${kind}"><span class="side">${label}</span><span class="at">${at}</span> <code>${what}</code> → <b>${answer}</b>${
    times > 1 ? ` × ${times}` : undefined
  }${changed === undefined ? undefined : markup` <span class="changed">changed: ${changed}</span>`}</td>`
}

const stepRow = ({ baseline, run }: Row) =>
  markup`<tr>${stepCell(baseline, 'baseline')}${stepCell(run, 'this run')}</tr>
`

type PaymentRow = { key: string; baseline: SeenPayment[]; run: SeenPayment[] }

/** The payments of both runs, those with the same payer, account and amount in one row. */
function paymentRows(baseline: Observation, run: Observation): PaymentRow[] {
  const keys = new Set([...baseline.payments, ...run.payments].map(({ key }) => key))
  const having = (key: string) => (one: SeenPayment) => one.key === key
  return [...keys].map((key) => ({
    key,
    baseline: baseline.payments.filter(having(key)),
    run: run.payments.filter(having(key)),
  }))
}

const paymentCell = (payments: readonly SeenPayment[], label: string) =>
  markup`<td><span class="side">${label}</span>${
    payments.length === 0
      ? markup`no payment`
      : payments.map(
          ({ transaction_id, paise, status, statusAtEnd }) =>
            markup`<div>${rupees(paise)} <b>${
              statusAtEnd === status ? status : `${statusAtEnd}, then ${status}`
            }</b> <code>${transaction_id}</code></div>`,
        )
  }</td>`

const sides = (title: string, rows: readonly Markup[]) =>
  rows.length === 0
    ? undefined
    : markup`<table class="sides">
<caption>${title}</caption>
<thead><tr><th scope="col">baseline</th><th scope="col">this run</th></tr></thead>
<tbody>
${rows}</tbody></table>
`

function ended({ isHung, exitCode }: Observation) {
  if (isHung) return 'was stopped at the deadline'
  return exitCode === null ? 'was stopped by a signal' : `ended with exit code ${exitCode}`
}

/** A finding: what was done, what happened, and its calls, events and payments beside those of the baseline. */
export function findingHtml(found: Finding, baseline: Observation): Markup {
  const { finding, plan, same, happened, reproduce, observation } = found
  const { rows, more } = sideBySide(baseline, observation)
  const payments = paymentRows(baseline, observation).map(
    (row) =>
      markup`<tr>${paymentCell(row.baseline, 'baseline')}${paymentCell(row.run, 'this run')}</tr>
`,
  )
  return markup`<section id="${finding}">
<h3>${finding} ${verdictMark(found)}${found.isKnown ? ' (known)' : undefined}</h3>
<dl>
<dt>what was done</dt><dd><ul>${plan.map(({ what }) => markup`<li>${what}</li>`)}</ul></dd>
<dt>what happened</dt><dd>${happened}. The command ${ended(observation)}.</dd>
${
  same.length === 0
    ? undefined
    : markup`<dt>the same happened</dt><dd><ul>${same.map(({ what }) => markup`<li>${what}</li>`)}</ul></dd>\n`
}${observation.probeDifferences.map((text) => markup`<dt>the probe</dt><dd>${text}</dd>\n`)}<dt>show it again</dt><dd><code>${reproduce}</code></dd>
</dl>
${sides('Calls and events', rows.map(stepRow))}${
  more > 0 ? markup`<p>… and ${more} more steps, which the recording has.</p>\n` : undefined
}${sides('Payments at the end of the command, and a day later', payments)}${
  observation.output === ''
    ? undefined
    : markup`<details><summary>The end of the command's output</summary><pre>${observation.output}</pre></details>\n`
}</section>
`
}

// Nothing is loaded and nothing runs. The style of the page is the only exception, by its hash.
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`

/** The runs with several faults that did not pass. */
function pairs({ runs, findings }: SweepResult): Markup | undefined {
  const several = runs.filter(({ plan }) => plan.length > 1)
  if (several.length === 0) return undefined
  const shown = several.filter(({ level }) => level !== 'none')
  const names = findingNames({ findings })
  return markup`<h3>Several faults together</h3>
<p>${several.length} runs; ${several.length - shown.length} of them passed.</p>
<ul>
${shown.map((run) => markup`<li>${run.what}: ${verdictMark(run, names.get(run.id))}</li>\n`)}</ul>
`
}

/** The runs with a finding that did not come again. */
const flakyRuns = ({ flaky }: SweepResult): Markup | undefined =>
  flaky.length === 0
    ? undefined
    : markup`<h2>Flaky</h2>
<p>These came once, and not again when the same was repeated.</p>
<ul>
${flaky.map((run) => markup`<li>${run.what}: ${verdictMark(run)} ${run.happened}</li>\n`)}</ul>
`

const tableRow = (cells: readonly string[]) =>
  markup`<tr>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>
`

/** What the runs met of all that the contract permits, and what would show the rest. */
const coverageTables = ({ coverage }: SweepResult): Markup =>
  markup`<div class="wide"><table>
<tbody>
${coverageCounts(coverage).map(tableRow)}</tbody></table></div>
<details><summary>Each behaviour</summary><div class="wide"><table>
<thead><tr>${COVERAGE_HEAD.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${coverageRows(coverage).map(tableRow)}</tbody></table></div></details>
`

const countRow = ([verdict, count]: [string, number]) =>
  markup`<dt><span class="verdict ${VERDICTS[verdict as Verdict]}">${verdict.replaceAll('_', ' ')}</span></dt><dd>${count}</dd>
`

/** `report.html`: one file that needs no network and no script. */
export function reportHtml(result: SweepResult): string {
  const { baseline, findings, seed } = result
  return `${markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>payout-sandbox sweep: ${countsText(result)}</title>
<style>`}${STYLE}${markup`</style>
</head>
<body>
<main>
<h1>payout-sandbox sweep</h1>
<p><code>${commandText(result)}</code></p>
<p>${countsText(result)}. Seed ${seed}. Of the baseline: ${baseline.calls.length} calls, ${baseline.payments.length} payments, ${baseline.deliveries.length} deliveries of events.</p>
<h2>Summary</h2>
<dl>
${Object.entries(verdictCounts(result)).map(countRow)}</dl>
<h2>Points and faults</h2>
${matrices(result)}${pairs(result)}<h2>Findings</h2>
${findings.length === 0 ? markup`<p>No findings.</p>\n` : findings.map((one) => findingHtml(one, baseline))}${flakyRuns(result)}<h2>What this does not prove</h2>
<ul>
${notProven(result).map((text) => markup`<li>${text}</li>\n`)}</ul>
<h2>Coverage</h2>
${coverageTables(result)}</main>
</body>
</html>
`}`
}
