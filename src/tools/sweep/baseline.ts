// tools/sweep/: runs a command again and again, each time with another fault that the contract permits, and judges what
// became of the money. plans.ts plans the runs, judge.ts judges them.

import { NO_CALL } from '../../config/environment.ts'
import { rupeesOf } from '../../model/payment.ts'
import { groupBy, times } from '../counting.ts'
import type { Observation, Run, SeenPayment, Verdict } from './faults-and-findings.ts'
import { SweepError } from './faults-and-findings.ts'
import { countOf, keysOf, left, paymentOf } from './judge.ts'
import { ANY_PAYMENT } from './observe.ts'
import { failureLine } from './program.ts'
import { type RunSetup, startRun } from './start-run.ts'

export type BaselineOptions = RunSetup & {
  jobs: number
  isUnstable: boolean
  /** Real ms that one run may take; with faults by default ten times as long as without, and at least 30 s, or 75 s if a call hangs. */
  timeoutMs?: number | undefined
}

// A command without faults may take long; it must not take for ever.
const DEADLINE_MS = 600_000
// How often the command may fail, if it has passed once.
const MAX_FAILURES = 3
const MAX_DIFFERENCES = 10
const NO_FAULT = 'without any fault'

export const endOf = (output: string) =>
  output.trim() === ''
    ? 'It printed nothing.'
    : `Its output ends with:\n${output.trimEnd().split('\n').slice(-20).join('\n')}`

function checkRun({ isHung, calls }: Observation, deadlineMs: number) {
  if (isHung)
    throw new SweepError(
      `the command did not end within ${deadlineMs} ms without any fault; make it faster, or choose a larger --timeout`,
    )
  if (calls.length === 0) throw new SweepError(NO_CALL)
}

function checkProbe(runs: readonly Observation[]) {
  const [difference] = runs.flatMap((one) => one.probeDifferences)
  if (difference !== undefined)
    throw new SweepError(
      `the probe differs from the sandbox without any fault: ${difference}. Let the probe answer with the payment's status, such as {"status": "SUCCESS"}`,
    )
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

/**
 * The finest keys that are equal in both runs, or are if a payment that one run makes more often counts once. If not even
 * the amounts are, only the number of payments is compared.
 */
export function keyLevelOf(first: Observation, second: Observation): number {
  const keysAt = ({ payments }: Observation, level: number) =>
    payments.map(({ keys }) => keys[level]).sort()
  const levelOf = (comparable: (keys: readonly unknown[]) => readonly unknown[]) =>
    [0, 1, 2].find((level) => {
      const [a, b] = [first, second].map((one) => JSON.stringify(comparable(keysAt(one, level))))
      return a === b
    })
  return levelOf((keys) => keys) ?? levelOf((keys) => [...new Set(keys)]) ?? 3
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

// ---- what runs without faults show on their own

/** A payment that a run made more often than another one, or more than once with one reference. */
function doubled(
  one: Observation,
  others: readonly Observation[],
  { isUnstable }: BaselineOptions,
) {
  const made = left(one.payments)
  const withReference = made.filter(({ reference }) => reference !== null)
  // Tests may reuse a reference for another payment.
  const keyOf = ({ client, reference, keys }: SeenPayment) => `${client} ${reference} ${keys[0]}`
  for (const same of groupBy(withReference, keyOf).values())
    if (same.length > 1)
      return `${paymentOf(same[0].keys[2]!)} was made ${times(same.length)} with the reference_id ${same[0].reference}`
  for (const other of isUnstable ? [] : others)
    for (const key of keysOf(made)) {
      const [count, least] = [countOf(made, key), countOf(left(other.payments), key)]
      if (key !== ANY_PAYMENT && least > 0 && count > least)
        return `${paymentOf(key)} was made ${times(count)} in one run, and ${times(least)} in another`
    }
  return undefined
}

/** What some runs without faults show: each kind of it once. */
function shownWithoutFault(
  runs: readonly Observation[],
  passed: readonly Observation[],
  options: BaselineOptions,
): Run[] {
  const found = (verdict: Verdict, observation: Observation, text: string): Run => {
    const happened = `${NO_FAULT}, ${text}`
    return { id: 0, plan: [], what: NO_FAULT, observation, verdict, level: 'error', happened }
  }
  const twice = runs.flatMap((one) => {
    const text = doubled(one, passed, options)
    return text === undefined ? [] : found('paid_twice', one, text)
  })
  const wrong = runs.flatMap((run) => run.bookDifferences.map((one) => ({ run, ...one })))
  const sorts = [...groupBy(wrong, ({ sort }) => sort).values()]
  return [...twice.slice(0, 1), ...sorts.map(([one]) => found('wrong_books', one.run, one.text))]
}

/** Runs the command without faults until it has passed twice. Throws `SweepError` if it fails as often. */
export async function runBaseline(options: BaselineOptions) {
  const { timeoutMs: deadlineMs = DEADLINE_MS, jobs } = options
  const passed: Observation[] = []
  const failed: Observation[] = []
  let rounds = 0
  const startedAt = performance.now()
  const run = () => startRun(options, [], deadlineMs)
  while (passed.length < 2) {
    // Runs side by side show whether they disturb each other.
    const runs = jobs > 1 && rounds === 0 ? await Promise.all([run(), run()]) : [await run()]
    rounds++
    for (const one of runs) {
      const own = one.exitCode === 0 ? passed : failed
      own.push(one)
      if (one.isHung || one.exitCode === 0) checkRun(one, deadlineMs)
      const most = passed.length === 0 ? 1 : MAX_FAILURES
      if (passed.length < 2 && failed.length > most)
        throw new SweepError(
          `the command fails without any fault (${one.exitCode === null ? 'killed by a signal' : `exit code ${one.exitCode}`}); fix it first, for a sweep needs a command that passes. ${endOf(one.output)}`,
        )
    }
  }
  const [first, second] = passed as [Observation, Observation]
  const level = keyLevelOf(first, second)
  const runMs = (performance.now() - startedAt) / rounds
  // The one that pays less is what the others are compared with.
  const runs = [withLevel(first, level), withLevel(second, level)].sort(
    (a, b) => left(a.payments).length - left(b.payments).length,
  ) as [Observation, Observation]
  const all = [...runs, ...failed.map((one) => withLevel(one, level))]
  const shown = shownWithoutFault(all, runs, options)
  // What they show is said as a finding, and explains what differs.
  if (shown.length === 0) {
    checkProbe(passed)
    checkEqual(baselineDifferences(first, second), options)
  }
  const flakyTests = [...new Set(failed.map(({ output }) => failureLine(output).slice(2)))]
  return { level, runs, failures: failed.length, flakyTests, runMs, shown }
}
