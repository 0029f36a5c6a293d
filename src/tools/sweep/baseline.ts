// tools/sweep/: runs a command again and again, each time with another fault that the contract permits, and judges what
// became of the money. plans.ts plans the runs, judge.ts judges them.

import { NO_CALL } from '../../config/environment.ts'
import { rupeesOf } from '../../model/payment.ts'
import { type Observation, SweepError } from './faults-and-findings.ts'
import { type RunSetup, startRun } from './start-run.ts'

export type BaselineOptions = RunSetup & {
  jobs: number
  isUnstable: boolean
  /** Real ms that one run may take; with faults by default ten times as long as without, and at least 30 s, or 75 s if a call hangs. */
  timeoutMs?: number | undefined
}

// A command without faults may take long; it must not take for ever.
const DEADLINE_MS = 600_000
const MAX_TRIES = 5
const MAX_DIFFERENCES = 10

export const endOf = (output: string) =>
  output.trim() === ''
    ? 'It printed nothing.'
    : `Its output ends with:\n${output.trimEnd().split('\n').slice(-20).join('\n')}`

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

/** What a run did, by name: how often each write got each status, which operations were read, how often each amount was paid. */
function deedsOf({ calls, payments }: Observation): ReadonlyMap<string, number> {
  const deeds = new Map<string, number>()
  const add = (name: string, max = Number.POSITIVE_INFINITY) =>
    deeds.set(name, Math.min(max, (deeds.get(name) ?? 0) + 1))
  for (const { method, operation, path, status } of calls)
    if (method === 'GET' || method === 'HEAD') add(operation, 1)
    else add(`${operation || `${method} ${path}`} with ${status ?? 'no response'}`)
  for (const { paise } of payments) add(`payments of ${rupeesOf(paise)}`)
  return deeds
}

export function baselineDifferences(first: Observation, second: Observation): string[] {
  const [deeds, again] = [deedsOf(first), deedsOf(second)]
  return [...new Set([...deeds.keys(), ...again.keys()])]
    .sort()
    .filter((name) => deeds.get(name) !== again.get(name))
    .map(
      (name) =>
        `${name}: ${deeds.get(name) ?? 0} in the first run, ${again.get(name) ?? 0} in the second`,
    )
}

/** The finest keys that are equal in both runs; if not even the amounts are, only the number of payments is compared. */
export function keyLevelOf(first: Observation, second: Observation): number {
  const keysAt = ({ payments }: Observation, level: number) =>
    JSON.stringify(payments.map(({ keys }) => keys[level]).sort())
  return [0, 1, 2].find((level) => keysAt(first, level) === keysAt(second, level)) ?? 3
}

export const withLevel = (observation: Observation, level: number): Observation => ({
  ...observation,
  payments: observation.payments.map((one) => ({ ...one, key: one.keys[level]! })),
})

function checkEqual(differences: readonly string[], { isUnstable, jobs }: BaselineOptions) {
  if (differences.length === 0 || isUnstable) return
  const side = jobs > 1 ? ', use --jobs 1 if its runs share a file, a port or a database' : ''
  const lines = differences.slice(0, MAX_DIFFERENCES).map((line) => `  ${line}\n`)
  throw new SweepError(
    `two runs without faults made different calls, so the results would depend on chance:\n${lines.join('')}Make the command repeatable (for example with --clock frozen)${side}, or use --unstable`,
  )
}

/** Runs the command without faults until it has passed twice. Throws `SweepError` if it fails as often. */
export async function runBaseline(options: BaselineOptions) {
  const { timeoutMs: deadlineMs = DEADLINE_MS, jobs } = options
  const passed: Observation[] = []
  let [failures, tries, rounds] = [0, 0, 0]
  const startedAt = performance.now()
  function run() {
    tries++
    return startRun(options, [], deadlineMs)
  }
  while (passed.length < 2) {
    rounds++
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
  checkEqual(baselineDifferences(first, second), options)
  const level = keyLevelOf(first, second)
  const runMs = (performance.now() - startedAt) / rounds
  const runs = [withLevel(first, level), withLevel(second, level)] as const
  return { level, runs, failures, runMs }
}
