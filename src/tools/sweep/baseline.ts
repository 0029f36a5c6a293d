import { join } from 'node:path'
import { NO_CALL } from '../../config/environment.ts'
import type { Observation } from './faults-and-findings.ts'
import { baselineDifferences, type KeyLevel, keyLevelOf, withLevel } from './observe.ts'
import { CannotRun, type RunSetup, startRun } from './start-run.ts'

/** The sweep cannot be made. The message says why and what to do. */
export class SweepError extends Error {
  readonly exitCode = 2
}

export type BaselineOptions = RunSetup & {
  /** A folder for the recordings of the runs. */
  folder: string
  jobs: number
  isUnstable: boolean
  /** Real ms that one run may take; with faults by default ten times as long as without, and at least 30 s. */
  timeoutMs?: number | undefined
}

/** The runs without faults; `failures` of them failed, so the command fails by itself from time to time. */
export type Baseline = {
  level: KeyLevel
  runs: readonly [Observation, Observation]
  failures: number
}

// A command without faults may take long; it must not take for ever.
const DEADLINE_MS = 600_000
const MAX_TRIES = 5
const MAX_DIFFERENCES = 10

const endOf = (output: string) =>
  output.trim() === ''
    ? 'It printed nothing.'
    : `Its output ends with:\n${output.trimEnd().split('\n').slice(-20).join('\n')}`

/** Throws if nothing can be learned from a run that was made without faults. */
function checkRun({ isHung, probeDifferences, calls }: Observation, deadlineMs: number) {
  if (isHung)
    throw new SweepError(
      `the command did not end within ${deadlineMs} ms without any fault; make it faster, or choose a larger --timeout`,
    )
  if (probeDifferences.length > 0)
    throw new SweepError(
      `the probe differs from the sandbox without any fault: ${probeDifferences[0]}. Let the probe answer with the payment's status, such as {"status": "SUCCESS"}`,
    )
  if (calls.length === 0) throw new SweepError(NO_CALL)
}

function checkEqual(
  first: Observation,
  second: Observation,
  { isUnstable, jobs }: BaselineOptions,
) {
  const differences = baselineDifferences(first, second)
  if (differences.length === 0 || isUnstable) return
  const side = jobs > 1 ? ', use --jobs 1 if its runs share a file, a port or a database' : ''
  throw new SweepError(
    `two runs without faults made different calls, so the results would depend on chance:\n${differences
      .slice(0, MAX_DIFFERENCES)
      .map((line) => `  ${line}`)
      .join(
        '\n',
      )}\nMake the command repeatable (for example with --clock frozen)${side}, or use --unstable`,
  )
}

/** Runs the command without faults until it has passed twice. Throws `SweepError` if it fails as often. */
export async function runBaseline(options: BaselineOptions): Promise<Baseline> {
  const { timeoutMs: deadlineMs = DEADLINE_MS, folder, jobs } = options
  const passed: Observation[] = []
  let failures = 0
  let tries = 0
  const run = () =>
    startRun(options, [], {
      deadlineMs,
      level: 0,
      recording: join(folder, `baseline-${++tries}.ndjson`),
    }).catch((error) => {
      throw error instanceof CannotRun ? new SweepError(error.message) : error
    })
  while (passed.length < 2) {
    // Runs side by side show whether they disturb each other.
    const runs = jobs > 1 && tries === 0 ? await Promise.all([run(), run()]) : [await run()]
    for (const one of runs) {
      if (one.exitCode === 0) passed.push(one)
      else failures++
      if (one.isHung || one.exitCode === 0) checkRun(one, deadlineMs)
      const isHopeless = failures > 1 && passed.length === 0
      if (isHopeless || (failures > 0 && tries >= MAX_TRIES && passed.length < 2))
        throw new SweepError(
          `the command fails without any fault (${one.exitCode === null ? 'killed by a signal' : `exit code ${one.exitCode}`}); fix it first, for a sweep needs a command that passes. ${endOf(one.output)}`,
        )
    }
  }
  const [first, second] = passed as [Observation, Observation]
  checkEqual(first, second, options)
  const level = keyLevelOf(first, second)
  return { level, runs: [withLevel(first, level), withLevel(second, level)], failures }
}
