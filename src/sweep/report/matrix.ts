import { type Markup, markup } from '../../report/markup.ts'
import type { Fault, Run, SweepResult } from '../faults-and-findings.ts'

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

/** The assumption of a fault with the name `assumption=reading`. */
const assumptionOf = (name: string) => name.split('=')[0]!

/** Where a fault happens: the row of the matrix. */
const pointOf = ({ name, operation, nth }: Fault): string =>
  operation === undefined ? assumptionOf(name) : `${operation}${nth === undefined ? '' : ` ${nth}`}`

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
  const names = new Map(findings.map(({ id, finding }) => [id, finding]))
  return (Object.keys(KINDS) as Fault['kind'][]).flatMap((kind) => {
    const found = runs.filter(({ plan }) => plan.length === 1 && plan[0]!.kind === kind)
    return found.length === 0 ? [] : [matrixOf(kind, found, names)]
  })
}
