import { createHash } from 'node:crypto'
import { type Markup, markup } from '../../report/markup.ts'
import { type SweepResult, VERDICTS, type Verdict } from '../faults-and-findings.ts'
import { groupsOf } from './groups.ts'
import { findingHtml } from './html-finding.ts'
import { matrices, verdictMark } from './matrix.ts'
import { commandText, countsText } from './sentences.ts'
import { STYLE } from './style.ts'
import { verdictCounts } from './sweep-json.ts'

// Nothing is loaded and nothing runs. The style of the page is the only exception, by its hash.
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`

/** The runs with several faults that did not pass. */
function pairs({ runs, findings }: SweepResult): Markup | undefined {
  const several = runs.filter(({ plan }) => plan.length > 1)
  if (several.length === 0) return undefined
  const shown = several.filter(({ level }) => level !== 'none')
  const names = new Map(findings.map(({ id, finding }) => [id, finding]))
  return markup`<h3>Several faults together</h3>
<p>${several.length} runs; ${several.length - shown.length} of them passed.</p>
<ul>
${shown.map((run) => markup`<li>${run.what}: ${verdictMark(run, names.get(run.id))}</li>\n`)}</ul>
`
}

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
${findings.length === 0 ? markup`<p>No findings.</p>\n` : groupsOf(findings).flatMap((group) => group.map((one) => findingHtml(one, group, baseline)))}</main>
</body>
</html>
`}`
}
