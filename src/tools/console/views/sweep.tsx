import { useId, useState } from 'preact/hooks'
import type { SweepDocument } from '../../sweep/report/sweep-json.ts'
import { Copy } from '../act.tsx'
import { Card, Chip, Facts, Problem } from '../ui.tsx'

type Finding = SweepDocument['findings'][number]

const areTexts = (...values: unknown[]) => values.every((value) => typeof value === 'string')

function isFinding(value: unknown): value is Finding {
  const { id, verdict, level, happened, reproduce, plan } = (value ?? {}) as Finding
  return (
    areTexts(id, verdict, level, happened, reproduce) &&
    Array.isArray(plan) &&
    plan.every((fault: Finding['plan'][number] | null) => areTexts(fault?.what))
  )
}

function isSweep(value: unknown): value is SweepDocument {
  const { runs, untried, verdicts, findings } = (value ?? {}) as SweepDocument
  return (
    Array.isArray(runs) &&
    Array.isArray(untried) &&
    typeof verdicts === 'object' &&
    verdicts !== null &&
    Object.values(verdicts).every(Number.isInteger) &&
    Array.isArray(findings) &&
    findings.every(isFinding)
  )
}

/** Reads a file that the user chose. Throws if it is no result of a sweep. */
async function readSweep(file: File): Promise<SweepDocument> {
  let value: unknown
  try {
    value = JSON.parse(await file.text())
  } catch {
    // What is not JSON is no result of a sweep.
  }
  if (isSweep(value)) return value
  throw new Error(
    `${file.name} is not the result of a sweep. Choose the sweep.json that payout-sandbox sweep --report wrote.`,
  )
}

const OneFinding = ({ id, verdict, level, plan, happened, reproduce }: Finding) => (
  <Card title={`${id}: ${verdict.replaceAll('_', ' ')}`} wide>
    <p>
      <Chip state={level} /> {happened}
    </p>
    <Facts
      facts={[
        [
          'What was done',
          <ul>
            {plan.map(({ what }) => (
              <li key={what}>{what}</li>
            ))}
          </ul>,
        ],
        ['Show it again', <code>{reproduce}</code>],
      ]}
    />
    <Copy text={reproduce} label="Copy the command" />
  </Card>
)

const Result = ({ runs, untried, verdicts, findings }: SweepDocument) => (
  <>
    <Card title="Runs">
      <Facts
        facts={[
          ['all', runs.length],
          ['not tried', untried.length],
          ...Object.entries(verdicts).map(
            ([verdict, count]) => [verdict.replaceAll('_', ' '), count] as const,
          ),
        ]}
      />
    </Card>
    {findings.length === 0 && <p>No findings.</p>}
    {findings.map((finding) => (
      <OneFinding key={finding.id} {...finding} />
    ))}
  </>
)

// Until the page is closed: another view must not lose the file.
let opened: SweepDocument | undefined

/** The result of a sweep, from a file of the user: the page sends it nowhere. */
export function Sweep() {
  const id = useId()
  const [result, setResult] = useState(opened)
  const [problem, setProblem] = useState<string>()
  async function open(file: File | undefined) {
    if (!file) return
    opened = undefined
    try {
      opened = await readSweep(file)
      setProblem(undefined)
    } catch (error) {
      setProblem((error as Error).message)
    }
    setResult(opened)
  }
  return (
    <>
      <h2>Sweep</h2>
      <p class="hint">
        <code>payout-sandbox sweep --report DIR -- npm test</code> finds what breaks your
        integration. Choose the file <code>sweep.json</code> of its report. The file stays in your
        browser.
      </p>
      <div class="field">
        <label for={id}>Result of a sweep</label>
        <input
          id={id}
          type="file"
          accept=".json,application/json"
          onChange={({ currentTarget }) => void open(currentTarget.files?.[0])}
        />
      </div>
      <Problem text={problem} />
      {result && <Result {...result} />}
    </>
  )
}
