import { rupeesOf } from '../../model/payment.ts'
import {
  type Level,
  type Observation,
  type Plan,
  VERDICTS,
  type Verdict,
} from './faults-and-findings.ts'
import { ANY_PAYMENT } from './observe.ts'
import { isAccepted } from './start-run.ts'

/** What a run is compared with. */
export type Judging = {
  /** The runs without faults. */
  baselines: readonly Observation[]
  /** How many calls of the same content may fail more often than in the baseline. */
  maxRetries: number
  deadlineMs: number
  /** Whether the probe was asked. */
  hasProbe: boolean
}

export type Judgement = { verdict: Verdict; level: Level; happened: string }

const times = (n: number) => (n === 1 ? 'once' : n === 2 ? 'twice' : `${n} times`)
const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return counts
}

// ---- money

type Payments = Observation['payments']

const countOfKeys = (payments: Payments) => countBy(payments, ({ key }) => key)
const left = (payments: Payments) => payments.filter(({ status }) => status !== 'FAILED')
// Nobody can notice a reversal that happens when the command has ended.
const paid = (payments: Payments) =>
  payments.filter(
    ({ status, statusAtEnd, wasPaid }) =>
      status !== 'FAILED' || (wasPaid && statusAtEnd !== 'FAILED'),
  )

/** A payment with its amount, which is part of every key but one. */
const paymentOf = (key: string) =>
  key === ANY_PAYMENT ? 'a payment' : `a payment of ${rupeesOf(Number(key.split(' ').at(-1)))}`

function paidTwice({ payments }: Observation, { baselines }: Judging): string | undefined {
  const allowed = baselines.map((one) => countOfKeys(left(one.payments)))
  for (const [key, count] of countOfKeys(left(payments))) {
    const most = Math.max(...allowed.map((counts) => counts.get(key) ?? 0))
    if (count > most)
      return `${paymentOf(key)} was made ${times(count)}; without the fault ${most === 0 ? 'there is no such payment' : `it is made ${times(most)}`}`
  }
  return undefined
}

function notPaid(
  { payments, exitCode, probeDifferences }: Observation,
  { baselines, hasProbe }: Judging,
): string | undefined {
  if (exitCode !== 0) return undefined
  // The probe says of each payment that is there what became of it, so the integration has noticed a failure.
  const isNoticed = hasProbe && probeDifferences.length === 0
  const made = countOfKeys(isNoticed ? payments : paid(payments))
  const wanted = baselines.map((one) => countOfKeys(paid(one.payments)))
  for (const [key, count] of wanted[0]!) {
    const least = Math.min(count, ...wanted.map((counts) => counts.get(key) ?? 0))
    if ((made.get(key) ?? 0) >= least) continue
    const failed = payments.filter((one) => one.key === key && one.status === 'FAILED').length
    return `the command passed, but ${paymentOf(key)} ${failed > 0 ? 'failed' : 'was never made'}`
  }
  return undefined
}

// ---- calls

type Calls = Observation['calls']

// A caller's timer may be a little early.
const TOLERANCE = 0.9

const nameOf = ({ method, path }: Calls[number]) => `${method} ${path}`

/** A call that the runs without faults do not make, and that came sooner than a response with Retry-After had asked for. */
function tooEarly(calls: Calls, baselines: readonly Observation[]): string | undefined {
  const countOfContents = (some: Calls) => countBy(some, ({ content }) => content)
  const usual = baselines.map((one) => countOfContents(one.calls))
  const counts = countOfContents(calls)
  // Independent parts of a program can make equal calls.
  const isRepeated = (content: string) =>
    counts.get(content)! > Math.max(0, ...usual.map((one) => one.get(content) ?? 0))
  const waits = calls.filter(
    ({ retryAfterMs, content }) => retryAfterMs !== undefined && isRepeated(content),
  )
  for (const first of waits) {
    const again = calls.find(
      ({ client, content, beganMs, clockMs }) =>
        client === first.client &&
        content === first.content &&
        beganMs > first.atMs &&
        beganMs - first.atMs < first.retryAfterMs! * TOLERANCE &&
        clockMs - first.answeredClockMs < first.retryAfterMs! * TOLERANCE,
    )
    if (again)
      return `${nameOf(again)} was repeated too early: the response had asked to wait ${seconds(first.retryAfterMs!)}`
  }
  return undefined
}

/** The most calls of equal content that came within a second of the caller's time. */
function fastest(calls: Calls): { call: Calls[number]; count: number } | undefined {
  const byContent = new Map<string, Calls[number][]>()
  for (const call of calls) {
    const same = byContent.get(call.content)
    if (same) same.push(call)
    else byContent.set(call.content, [call])
  }
  let found: { call: Calls[number]; count: number } | undefined
  for (const same of byContent.values()) {
    let from = 0
    for (const [i, call] of same.entries()) {
      while (call.atMs - same[from]!.atMs > 1_000 || call.clockMs - same[from]!.clockMs > 1_000)
        from++
      const count = i - from + 1
      if (count > (found?.count ?? 0)) found = { call, count }
    }
  }
  return found
}

const failuresOf = ({ calls }: Observation) =>
  countBy(
    calls.filter(({ isFailed }) => isFailed),
    ({ content }) => content,
  )

function retryStorm(
  observation: Observation,
  { baselines, maxRetries }: Judging,
): string | undefined {
  const { calls } = observation
  const before = baselines.map(failuresOf)
  for (const [content, count] of failuresOf(observation)) {
    const usual = Math.max(...before.map((counts) => counts.get(content) ?? 0))
    if (count <= usual + maxRetries) continue
    return `${nameOf(calls.find((call) => call.content === content)!)} was sent ${times(count)} although it failed each time`
  }
  const usual = Math.max(0, ...baselines.map((one) => fastest(one.calls)?.count ?? 0))
  const most = fastest(calls)
  if (most && most.count > usual + maxRetries)
    return `${nameOf(most.call)} was sent ${times(most.count)} within a second`
  return tooEarly(calls, baselines)
}

// ---- the rest

function hung({ isHung, calls }: Observation, { deadlineMs }: Judging): string | undefined {
  if (!isHung) return undefined
  const last = calls.at(-1)
  const where = last ? `; its last call was ${nameOf(last)}` : ''
  return `the command did not end within ${seconds(deadlineMs)}${where}`
}

function acceptedForged({ deliveries }: Observation): string | undefined {
  const found = deliveries.find(({ isForged, status }) => isForged && isAccepted(status))
  return found && `the receiver answered ${found.status} to this ${found.event}`
}

/** The last line that a command printed. */
function lastLine(output: string): string {
  const line = output.trimEnd().split('\n').at(-1)!.trim()
  return line === '' ? '' : `: ${line.length > 160 ? `${line.slice(0, 157)}...` : line}`
}

const failed = ({ exitCode, output }: Observation) =>
  `the command failed (${exitCode === null ? 'killed by a signal' : `exit code ${exitCode}`})${lastLine(output)}`

/** Judges a run by what the sandbox saw; the worst verdict is the one that counts. */
export function judge(plan: Plan, observation: Observation, judging: Judging): Judgement {
  const { exitCode, isHung, hits, probeDifferences } = observation
  const isReached = hits.every((count) => count > 0)
  const hasFailed = exitCode !== 0 && !isHung
  const found: [Verdict, string | undefined][] = [
    ['paid_twice', paidTwice(observation, judging)],
    ['wrong_state', probeDifferences.length > 0 ? probeDifferences.join('; ') : undefined],
    ['accepted_forged', acceptedForged(observation)],
    ['hung', hung(observation, judging)],
    ['retry_storm', retryStorm(observation, judging)],
    [
      'relies_on',
      hasFailed && isReached && plan.every(({ mustAbsorb }) => mustAbsorb)
        ? failed(observation)
        : undefined,
    ],
    ['not_paid', notPaid(observation, judging)],
    ['failed_safely', hasFailed ? failed(observation) : undefined],
    ['not_reached', isReached ? undefined : 'the run did not come to this point'],
  ]
  const [verdict, happened] = found.find(([, text]) => text !== undefined) ?? [
    'passed' as const,
    'the command passed',
  ]
  const isWorse = verdict === 'not_paid' && judging.hasProbe && probeDifferences.length > 0
  return { verdict, level: isWorse ? 'error' : VERDICTS[verdict], happened: happened! }
}
