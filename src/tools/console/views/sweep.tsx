import { useState } from 'preact/hooks'
import type { SweepDocument } from '../../sweep/report/sweep-json.ts'
import { callOf } from '../api.ts'
import { Dropped } from '../fields.tsx'
import { Button, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { Coverage, SweepResult } from './sweep-result.tsx'

/** Whether a value has the parts of a `sweep.json` that this version writes. */
function isSweep(value: unknown): value is SweepDocument {
  const { command, runs, untried, verdicts, findings, flaky, not_proven, coverage } = (value ??
    {}) as SweepDocument
  return (
    typeof command === 'string' &&
    typeof verdicts === 'object' &&
    verdicts !== null &&
    [runs, untried, findings, flaky, not_proven, coverage?.groups].every(Array.isArray) &&
    runs.every((run) => Array.isArray(run?.plan)) &&
    findings.every((one) => [one?.plan, one?.steps, one?.payments].every(Array.isArray))
  )
}

type Source = { name: string; text: () => Promise<string> }

/** The result for the example of the docs, which the server has beside the page. */
const EXAMPLE: Source = {
  name: 'The example',
  text: async () => (await fetch('example.json')).text(),
}

async function readSweep(file: Source): Promise<SweepDocument> {
  // What is not JSON is no result of a sweep.
  const value: unknown = await file
    .text()
    .then(JSON.parse)
    .catch(() => undefined)
  if (isSweep(value)) return value
  throw new Error(
    `${file.name} isn't a sweep result of this version. Choose the sweep.json that payout-sandbox sweep --report wrote.`,
  )
}

function CoverageOfCalls() {
  const { data, problem } = useLoaded(callOf('getCoverage'))
  if (!data) return problem === undefined ? null : <p class="hint">{problem}</p>
  return (
    <>
      <p class="hint">
        Calls of this page and of a scenario's timeline don't count. The amounts only work in the
        default scenario.
      </p>
      <Coverage coverage={data} isLinked title="What your calls have met since the start" />
    </>
  )
}

// Until the page is closed: another view must not lose the file.
let opened: SweepDocument | undefined

/** The result of a sweep, from a file of the user: the page sends it nowhere. */
export function Sweep() {
  const [result, setResult] = useState(opened)
  const [problem, setProblem] = useState<string>()
  async function open(file: Source) {
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
      <h2>Sweep and coverage</h2>
      <p class="hint">
        <code>payout-sandbox sweep --report DIR -- npm test</code> finds what breaks your
        integration. Drop the <code>sweep.json</code> of its report here. The file stays in your
        browser; to send it on, use <code>report.html</code> beside it.
      </p>
      <div class="card wide bar">
        <Dropped label="Result of a sweep" accept=".json,application/json" onFile={open} />
        <Button label="See an example" onPress={() => void open(EXAMPLE)} />
      </div>
      <Problem text={problem} />
      {result ? <SweepResult isLinked sweep={result} /> : <CoverageOfCalls />}
    </>
  )
}
