import { type Markup, markup } from '../../report/markup.ts'
import type { Finding, Observation, SeenPayment } from '../faults-and-findings.ts'
import { verdictMark } from './matrix.ts'
import { type Row, type Step, sideBySide } from './steps.ts'

const rupees = (paise: number) => (paise / 100).toFixed(2)

function stepCell(step: Step | undefined, label: string): Markup {
  if (!step) return markup`<td class="none"><span class="side">${label}</span>–</td>`
  const { kind, what, answer, changed, atMs, times } = step
  return markup`<td class="${kind}"><span class="side">${label}</span><span class="at">${Math.round(atMs)} ms</span> <code>${what}</code> → <b>${answer}</b>${
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
export function findingHtml(
  found: Finding,
  group: readonly Finding[],
  baseline: Observation,
): Markup {
  const { finding, plan, happened, reproduce, observation } = found
  const others = group.filter((one) => one !== found)
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
  others.length === 0
    ? undefined
    : markup`<dt>the same happened in</dt><dd>${others.map(({ finding: other }) => markup`<a href="#${other}">${other}</a> `)}</dd>\n`
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
