// What a sweep showed. The console and the file report.html have it, so it sends no call and needs no router.
import type { ComponentChildren } from 'preact'
import type { Coverage as CoverageDocument } from '../../../model/coverage.ts'
import { groupBy } from '../../counting.ts'
import type { StepRow } from '../../sweep/report/steps.ts'
import type { ShownPayment, SweepDocument } from '../../sweep/report/sweep-json.ts'
import { focusOn } from '../focus.ts'
import { countText, numberText, rupeesText } from '../format.ts'
import { Card, Copy, Facts, Heads, List, Table } from '../ui.tsx'

type Run = SweepDocument['runs'][number]
type Finding = SweepDocument['findings'][number]

const LEVEL_CLASSES = { none: 'good', error: 'bad', warning: 'open', ask: 'open', information: '' }
const AMOUNT = /payment of ([\d.]+)/
const inRupees = (text: string) =>
  text.replace(AMOUNT, (_, amount) => `payment of ${rupeesText(amount)}`)

function Verdict({ verdict, level, happened }: Pick<Run, 'verdict' | 'level' | 'happened'>) {
  const amount = level === 'none' ? undefined : AMOUNT.exec(happened)?.[1]
  return (
    <span class={`chip ${LEVEL_CLASSES[level]}`}>
      {amount && `${rupeesText(amount)} `}
      {verdict.replaceAll('_', ' ')}
    </span>
  )
}

function goTo(id: string) {
  const finding = document.getElementById(id)!
  finding.scrollIntoView()
  focusOn(finding)
}

const KINDS: Readonly<Record<Run['plan'][number]['kind'], string>> = {
  call: 'Calls',
  lifecycle: 'Payments and records',
  webhook: 'Webhooks',
  race: 'Calls and events that meet',
  assumption: 'Readings of the contract',
}

/** Where a fault happens, the row, and what it is, the column: of `list_order=oldest_first`, its two halves. */
function placeOf([fault]: Run['plan']): [row: string, column: string] {
  const { operation, nth, name } = fault!
  if (operation !== null) return [[operation, nth].filter(Boolean).join(' '), name]
  const [assumption = '', reading = ''] = name.split('=')
  return [assumption, reading]
}

/** The verdict of each run with one fault of a kind, by point and fault. Readings have no columns in common. */
function Grid({ kind, runs }: { kind: keyof typeof KINDS; runs: readonly Run[] }) {
  const rows = groupBy(runs, (run) => placeOf(run.plan)[0])
  const isReading = kind === 'assumption'
  const columns = isReading
    ? ['other readings']
    : [...new Set(runs.map((run) => placeOf(run.plan)[1]))]
  const sorted = [...rows].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
  return (
    <Card title={KINDS[kind]} wide>
      <Table
        label={`${KINDS[kind]} by point and fault`}
        titles={['point', ...columns.map((name) => name.replaceAll('_', ' '))]}
        class="grid"
      >
        {sorted.map(([point, own]) => (
          <tr key={point}>
            <th scope="row">{point}</th>
            {columns.map((column) => (
              <td key={column}>
                {own
                  .filter((run) => isReading || placeOf(run.plan)[1] === column)
                  .map((run) => (
                    <div key={run.plan[0]!.name}>
                      {isReading && <code>{placeOf(run.plan)[1]} </code>}
                      {run.finding === null ? (
                        <Verdict {...run} />
                      ) : (
                        <button type="button" onClick={() => goTo(run.finding!)}>
                          <Verdict {...run} />
                        </button>
                      )}
                    </div>
                  ))}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </Card>
  )
}

const Sides = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <table class="stack sides">
    <caption>{title}</caption>
    <Heads titles={['without the fault', 'with it']} />
    <tbody>{children}</tbody>
  </table>
)

function StepCell({ step, side }: { step: StepRow['run']; side: string }) {
  if (step === null) return <td>–</td>
  const { at_ms, what, worker, response, changed, times } = step
  return (
    <td>
      <span class="side hint">{side}: </span>
      {at_ms !== null && <span class="hint">{at_ms} ms </span>}
      {worker !== null && <small>worker {worker} </small>}
      <code>{what}</code> → <b>{response}</b>
      {times > 1 && ` × ${times}`}
      {changed !== null && <span class="failed"> changed: {changed}</span>}
    </td>
  )
}

/** What two sides of a row have in common, if they do the same. Ids differ in each run. */
const plainStep = (step: StepRow['run']) =>
  step && [step.what.replace(/[\da-f]{8}-[\da-f-]{27}/g, 'ID'), step.response, step.changed].join()

const isEqual = ({ baseline, run }: StepRow) => plainStep(baseline) === plainStep(run)

function Steps({ steps, more }: { steps: readonly StepRow[]; more: number }) {
  const first = steps.findIndex((row) => !isEqual(row))
  return (
    <>
      <Sides title="Calls and events; the first difference is marked">
        {steps.map((row, i) => (
          <tr key={i} class={i === first ? 'bad differs' : isEqual(row) ? '' : 'open'}>
            <StepCell step={row.baseline} side="without" />
            <StepCell step={row.run} side="with" />
          </tr>
        ))}
      </Sides>
      {more > 0 && <p class="hint">… and {more} more steps.</p>}
    </>
  )
}

const PaymentCell = ({ payments, side }: { payments: readonly ShownPayment[]; side: string }) => (
  <td>
    <span class="side hint">{side}: </span>
    {payments.length === 0 && 'no payment'}
    {payments.map(({ transaction_id, amount, status_at_end, status }) => (
      <div key={transaction_id}>
        {rupeesText(amount)}{' '}
        <b>{status === status_at_end ? status : `${status_at_end}, then ${status}`}</b>{' '}
        <code>{transaction_id}</code>
      </div>
    ))}
  </td>
)

const Texts = ({ title, texts }: { title: string; texts: readonly string[] }) =>
  texts.length > 0 ? <Facts facts={{ [title]: <List items={texts} /> }} /> : null

const planText = (plan: Run['plan']) => plan.map(({ what }) => what).join('; and ')

const OneFinding = (finding: Finding) => (
  <div id={finding.id}>
    <Card title={`${finding.id}: ${finding.verdict.replaceAll('_', ' ')}`} wide>
      <p>
        <Verdict {...finding} /> ({finding.level}) {inRupees(finding.happened)}. The command{' '}
        {finding.ended}.{finding.is_known && ' It is known.'}
        {finding.by_chance && ' It came once, by chance.'}
        {finding.first_divergence && ` First, ${finding.first_divergence}.`} {finding.advice}
      </p>
      <Texts
        title="What was done"
        texts={finding.plan.length > 0 ? finding.plan.map(({ what }) => what) : [finding.what]}
      />
      <Texts title="The same happened" texts={finding.same.map(planText)} />
      <Texts title="The books" texts={finding.books} />
      <Texts title="The probe" texts={finding.probe} />
      <Texts title="Show it again" texts={[finding.reproduce]} />
      <Copy text={finding.reproduce} label="Copy the command" />
      <Steps steps={finding.steps} more={finding.more_steps} />
      <Sides title="Payments when the command ended, and a day later">
        {finding.payments.map(({ baseline, run }, i) => (
          <tr key={i}>
            <PaymentCell payments={baseline} side="without" />
            <PaymentCell payments={run} side="with" />
          </tr>
        ))}
      </Sides>
      {finding.output !== '' && (
        <details>
          <summary>The end of the command's output</summary>
          <pre tabIndex={0}>{finding.output}</pre>
        </details>
      )}
    </Card>
  </div>
)

function ShownBy({ text, isLinked }: { text: string; isLinked: boolean }) {
  const [, scenario, amount] = /scenario ([\w-]+)|amount (\d+\.\d+)/.exec(text) ?? []
  if (!isLinked || !(scenario || amount)) return <>{text}</>
  return <a href={scenario ? `#/scenarios/${scenario}` : `#/payments?make=${amount}`}>{text}</a>
}

type CoverageProps = {
  coverage: CoverageDocument
  title: string
  /** In the console; the file report.html has no other views. */
  isLinked?: boolean | undefined
}

export const Coverage = ({ coverage: { groups }, title, isLinked = false }: CoverageProps) => (
  <Card title={title} wide>
    {groups.map(({ group, met, total, percent, items }) => (
      <details key={group}>
        <summary>
          {group}: {total === 0 ? 'nothing yet' : `${met} of ${total} met (${percent} %)`}
        </summary>
        <Table
          label={group}
          titles={['of', 'behaviour', 'met?', 'show me']}
          class="grid"
          rows={items.map(({ subject, behaviour, met: isMet, shown_by }) => [
            subject,
            behaviour,
            <span class={isMet ? 'shape good' : 'hint'}>{isMet ? 'met' : 'not met'}</span>,
            !isMet && <ShownBy text={shown_by} isLinked={isLinked} />,
          ])}
        />
      </details>
    ))}
  </Card>
)

const RunList = ({ title, runs }: { title: string; runs: readonly Omit<Run, 'finding'>[] }) =>
  runs.length === 0 ? null : (
    <Card title={title} wide>
      <List
        items={runs.map((run) => (
          <>
            {planText(run.plan)}: <Verdict {...run} /> {run.happened}
          </>
        ))}
      />
    </Card>
  )

const Holdout = ({ classes, verdicts, sha256 }: NonNullable<SweepDocument['holdout']>) => (
  <Card title="Held out" wide>
    {classes.map(({ kind, shown, held_out: held }) => (
      <p key={kind}>
        <b>{kind === 'all' ? 'All' : KINDS[kind]}</b>: of {numberText(shown.runs)} shown,{' '}
        {numberText(shown.passed)} passed; of {numberText(held.runs)} held out,{' '}
        {numberText(held.passed)}.
      </p>
    ))}
    <p>Findings of held-out faults: {verdicts.join(', ').replaceAll('_', ' ') || 'none'}.</p>
    <p class="hint">
      Sealed: <code>{sha256}</code>
    </p>
  </Card>
)

/** How many faults made the program pay twice, and what. */
function paidTwiceText({ runs }: SweepDocument): string {
  const twice = runs.filter(({ verdict }) => verdict === 'paid_twice')
  const amounts = new Set(twice.map(({ happened }) => AMOUNT.exec(happened)?.[1]))
  const [amount] = amounts
  const what = amounts.size === 1 && amount ? `${rupeesText(amount)} twice` : 'twice'
  const many = twice.length === 0 ? 'None' : numberText(twice.length)
  return `${many} of ${countText(runs.length, 'fault')} ${twice.length > 1 ? 'pay' : 'pays'} ${what}.`
}

export function SweepResult({ sweep, isLinked }: { sweep: SweepDocument; isLinked?: boolean }) {
  const { command, swept_at, seed, baseline, runs, untried, verdicts, findings, flaky } = sweep
  const pairs = runs.filter(({ plan, level }) => plan.length > 1 && level !== 'none')
  return (
    <>
      <h2>{paidTwiceText(sweep)}</h2>
      <p>
        Swept: <code>{command}</code>
        {swept_at && `, ${swept_at.slice(0, 16).replace('T', ' ')} UTC`}
      </p>
      <Card title="Runs" wide>
        <p class="hint">
          Without faults: {countText(baseline.calls, 'call')},{' '}
          {countText(baseline.payments, 'payment')}, {countText(baseline.deliveries, 'delivery')}.
          Seed {seed}.
        </p>
        <p class="bar">
          {countText(runs.length, 'run')}, {numberText(untried.length)} not tried:
          {Object.entries(verdicts).map(([word, count]) => (
            <span key={word} class="chip">
              {numberText(count)} {word.replaceAll('_', ' ')}
            </span>
          ))}
        </p>
      </Card>
      {(Object.keys(KINDS) as (keyof typeof KINDS)[]).map((kind) => {
        const own = runs.filter(({ plan }) => plan.length === 1 && plan[0]!.kind === kind)
        return own.length > 0 && <Grid key={kind} kind={kind} runs={own} />
      })}
      <RunList title="Several faults together" runs={pairs} />
      {sweep.holdout && <Holdout {...sweep.holdout} />}
      {findings.length === 0 && (
        <p>{flaky.length === 0 ? 'No findings.' : 'No finding came again; some are flaky.'}</p>
      )}
      {findings.map((finding) => (
        <OneFinding key={finding.id} {...finding} />
      ))}
      <RunList title="Flaky: it came once, and not again" runs={flaky} />
      <Card title="What this does not prove" wide>
        <List items={sweep.not_proven} />
      </Card>
      <Coverage coverage={sweep.coverage} title="Coverage" isLinked={isLinked} />
    </>
  )
}
