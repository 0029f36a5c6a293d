import { rupeesOf } from '../../model/payment.ts'
import { seconds, times } from '../counting.ts'
import { wrongBooks } from './books.ts'
import { acceptedForged, lostEvent, nameOf, retryStorm } from './conduct.ts'
import { isForging, mustAbsorb } from './faults.ts'
import type {
  Judgement,
  Level,
  Observation,
  Plan,
  Run,
  SeenPayment,
  Verdict,
} from './faults-and-findings.ts'
import { mostOf, VERDICTS } from './faults-and-findings.ts'
import { ANY_PAYMENT } from './observe.ts'
import { areAlike, isCheck, isUnguarded, planKey } from './plans.ts'
import { failureLine } from './program.ts'

/** What a run is compared with. */
export type Judging = {
  /** The runs without faults. */
  baselines: readonly Observation[]
  /** How many more equal calls per payment than the baseline makes are allowed within a second. */
  maxRetries: number
  hasProbe: boolean
  /** The other runs so far. */
  runs?: readonly Run[]
}

// ---- money

type Payments = readonly SeenPayment[]

export const keysOf = (payments: Payments) => new Set(payments.map(({ key }) => key))
export const countOf = (payments: Payments, key: string) =>
  payments.filter((one) => one.key === key).length
// A payment whose client was deleted before it ended may still succeed.
export const left = (payments: Payments) => payments.filter(({ status }) => status !== 'FAILED')
// Nobody can notice a reversal that happens when the command has ended.
const paid = (payments: Payments) =>
  payments.filter(
    ({ status, statusAtEnd, wasPaid }) =>
      status !== 'FAILED' || (wasPaid && statusAtEnd !== 'FAILED'),
  )

/** The amount of some payments: it's part of every key but one. */
const sumOf = (key: string, count = 1) =>
  key === ANY_PAYMENT ? undefined : rupeesOf(Number(key.split(' ').at(-1)) * count)
export const paymentOf = (key: string) =>
  key === ANY_PAYMENT ? 'a payment' : `a payment of ${sumOf(key)}`

const changesPayments = (plan: Plan) =>
  plan.some(({ kind, operation }) => kind === 'lifecycle' && operation === 'createTransaction')

function paidTwice(plan: Plan, { payments }: Observation, { baselines }: Judging) {
  for (const key of keysOf(left(payments))) {
    const made = mostOf(baselines, (one) => countOf(one.payments, key))
    const usual = mostOf(baselines, (one) => countOf(left(one.payments), key))
    // A fault that changes the outcome of a payment also removes a failure that the test wanted.
    const allowed = Math.max(1, changesPayments(plan) ? made : usual)
    const count = countOf(left(payments), key)
    if (count <= allowed) continue
    const sum = sumOf(key, count - allowed)
    const usually = `not ${times(allowed)}${sum ? `: ${sum} too much` : ''}`
    return `${paymentOf(key)} was made ${times(count)}, ${made === 0 ? 'and is not made without the fault' : usually}`
  }
  return undefined
}

/** A payment with an amount that no run without faults pays. */
function wrongAmount({ payments }: Observation, { baselines }: Judging): string | undefined {
  const usual = new Set(baselines.flatMap((one) => one.payments.map(({ paise }) => paise)))
  const found = payments.find(({ key, paise }) => key !== ANY_PAYMENT && !usual.has(paise))
  return found && `${paymentOf(found.key)} was made; without the fault no payment has this amount`
}

/** Money for somebody whose check had failed when the payment was made. */
function paidUnverified({ payments }: Observation, { baselines }: Judging): string | undefined {
  const unverified = (some: Payments) => some.filter((one) => one.unverified !== undefined)
  const usual = keysOf(baselines.flatMap((one) => unverified(one.payments)))
  const found = left(unverified(payments)).find(({ key }) => !usual.has(key))
  return found && `${paymentOf(found.key)} was made ${found.unverified}`
}

const RECOGNISING = ['idempotency_key=honoured', 'reference_id=unique']

/** A payment that the command takes for paid, and how bad that is. */
function notPaid(plan: Plan, run: Observation, { baselines, hasProbe }: Judging) {
  const { payments, exitCode, probeDifferences } = run
  // Who isn't verified isn't paid.
  if (exitCode !== 0 || plan.some(isCheck)) return undefined
  // The probe says of each payment that is there what became of it, so the integration has noticed a failure.
  const isNoticed = hasProbe && probeDifferences.length === 0
  const good = isNoticed ? payments : paid(payments)
  // A service that recognises a payment makes it once, where the test wants it twice.
  const isRecognised = plan.some(({ name }) => RECOGNISING.includes(name))
  const limit = isRecognised ? 1 : Number.POSITIVE_INFINITY
  for (const key of keysOf(paid(baselines[0]!.payments))) {
    const least = Math.min(limit, ...baselines.map((one) => countOf(paid(one.payments), key)))
    if (countOf(good, key) >= least) continue
    const isMade = countOf(payments, key) >= least
    const failures = payments.filter((one) => one.key === key && one.status === 'FAILED')
    const isRead = isMade && failures.every(({ isReadAsFailed }) => isReadAsFailed)
    const end = isRead ? 'failed, as it read' : isMade ? 'failed' : 'was never made'
    const isWorse = !isMade || (hasProbe && probeDifferences.length > 0)
    // Only a probe can say what the command made of what it read.
    const level: Level = isWorse ? 'error' : isRead ? 'information' : 'warning'
    return { level, text: `the command passed, but ${paymentOf(key)} ${end}` }
  }
  return undefined
}

/** What the probe says otherwise, if it says more than without faults. */
const wrongState = ({ probeDifferences }: Observation, { baselines }: Judging) =>
  probeDifferences.length > mostOf(baselines, (one) => one.probeDifferences.length)
    ? probeDifferences.join('; ')
    : undefined

// ---- the rest

// A command that still calls from time to time is slow, not hung.
const SILENCE = 1 / 3

const lastCall = ({ calls }: Observation) => {
  const last = calls.at(-1)
  return last ? `; its last call was ${nameOf(last)}` : ''
}

function hung(run: Observation): string | undefined {
  const { isHung, calls, durationMs } = run
  if (!isHung || durationMs - (calls.at(-1)?.atMs ?? 0) < durationMs * SILENCE) return undefined
  return `the command did not end within ${seconds(durationMs)} (see --timeout)${lastCall(run)}`
}

function failed(run: Observation): string {
  const { exitCode, isHung, output, durationMs, failedWorkers = [] } = run
  const who = failedWorkers.length > 0 ? `worker ${failedWorkers.join(' and ')}` : 'the command'
  if (isHung) return `the command was still busy after ${seconds(durationMs)}${lastCall(run)}`
  return `${who} failed (${exitCode === null ? 'killed by a signal' : `exit code ${exitCode}`})${failureLine(output)}`
}

/** Whether a plan is a pair with another reading, and the command passes under each half. */
function passesAlone(plan: Plan, runs: readonly Run[]): boolean {
  if (plan.length < 2 || plan.every(({ kind }) => kind !== 'assumption')) return false
  return plan.every((fault) => {
    const alone = runs.find((one) => planKey(one.plan) === planKey([fault]))
    // A reading that concerns only calls after a fault has no run of its own.
    return alone ? alone.verdict === 'passed' : fault.kind === 'assumption'
  })
}

/** What a run called, in order: calls of one kind in a row are one step. */
const stepsOf = ({ calls }: Observation) =>
  calls
    .flatMap(({ operation }, i) => (operation === calls[i - 1]?.operation ? [] : operation))
    .join()

/** Why a command that failed should have passed. */
function reliesOn(plan: Plan, run: Observation, judging: Judging): string | undefined {
  const { runs = [] } = judging
  const text = failed(run)
  if (plan.every(mustAbsorb) || (passesAlone(plan, runs) && !isUnguarded(plan))) return text
  const alike = runs.filter((one) => one.verdict === 'passed' && areAlike(one.plan, plan))
  // A client that does the same after each loss is right, and only its test has a limit that this run exceeds.
  const isOther = alike.every(({ observation }) => stepsOf(observation) !== stepsOf(run))
  return alike.length > 0 && isOther
    ? `${text}; it passes if the call gets no response in another way`
    : undefined
}

/** The payments with their statuses when the command ended. */
const endsOf = ({ payments }: Observation) =>
  payments
    .map(({ key, statusAtEnd }) => `${key} ${statusAtEnd}`)
    .sort()
    .join('\n')

/** A command that failed because of a call although its payments ended as they do without the fault. */
function notRecovered(plan: Plan, run: Observation, { baselines }: Judging): string | undefined {
  const { exitCode, isHung, payments } = run
  if (exitCode === 0 || isHung || payments.length === 0) return undefined
  if (plan.length === 0 || plan.some(({ kind }) => kind !== 'call')) return undefined
  const isAsUsual = baselines.some((one) => endsOf(one) === endsOf(run))
  return isAsUsual
    ? `the payments ended as they do without the fault, but ${failed(run)}`
    : undefined
}

// ---- what was reached

const hasFailed = ({ statusAtEnd }: SeenPayment) => statusAtEnd === 'FAILED'
const isPaid = ({ statusAtEnd }: SeenPayment) => statusAtEnd === 'SUCCESS'
/** The payments that show a fault before the command ends: those that fail then, or usually succeed by then. */
const SHOWN: Readonly<Record<string, (one: SeenPayment) => boolean>> = {
  payment_failed: hasFailed,
  payment_reversed: (one) => one.wasPaid && hasFailed(one),
  payment_late_success: ({ wasFailed, isReadAsFailed }) => wasFailed || isReadAsFailed,
  payment_failed_late: isPaid,
  payment_late: isPaid,
  payment_stuck: isPaid,
}

/** Why a fault changed nothing while the command ran; `undefined` if it did. */
function notReached(plan: Plan, run: Observation, { baselines }: Judging): string | undefined {
  if (run.hits.includes(0)) {
    const end = run.exitCode === 0 ? '' : `: ${failed(run)}`
    const name = plan.find(({ race }) => race?.workers)?.name ?? ''
    const missed = {
      race: 'no two of these calls were under way at once',
      two_workers: 'one worker had nothing to do',
    }[name]
    return `${missed ?? 'the run did not come to this point'}${end}`
  }
  for (const { name } of plan) {
    const isSuch = SHOWN[name]
    if (isSuch === undefined) continue
    const count = ({ payments }: Observation) => payments.filter(isSuch).length
    const usual = mostOf(baselines, count)
    const isSeen = isSuch === isPaid ? usual > 0 : count(run) > usual
    const later = name === 'payment_reversed' ? ', or advance the clock by 25h' : ''
    if (!isSeen)
      return `${name} came after the command had ended; let a test wait for the payment${later}`
  }
  return undefined
}

/** Judges a run by what the sandbox saw; the worst verdict is the one that counts. */
export function judge(plan: Plan, run: Observation, judging: Judging): Judgement {
  const { exitCode, hits } = run
  const unreached = notReached(plan, run, judging)
  const isReached = unreached === undefined
  const unpaid = isReached ? notPaid(plan, run, judging) : undefined
  const books = wrongBooks(plan, run, judging.baselines)
  const found: [Verdict, string | undefined][] = [
    ['paid_twice', paidTwice(plan, run, judging)],
    ['wrong_amount', wrongAmount(run, judging)],
    ['paid_unverified', paidUnverified(run, judging)],
    ['wrong_books', books?.text],
    ['wrong_state', isForging(plan) ? undefined : wrongState(run, judging)],
    ['accepted_forged', acceptedForged(run)],
    ['hung', hung(run)],
    ['retry_storm', retryStorm(run, judging)],
    ['lost_event', lostEvent(run)],
    ['relies_on', exitCode !== 0 && isReached ? reliesOn(plan, run, judging) : undefined],
    ['not_paid', unpaid?.text],
    ['not_recovered', isReached ? notRecovered(plan, run, judging) : undefined],
    // A command that failed before anything happened shows nothing.
    ['failed_safely', exitCode !== 0 && !hits.includes(0) ? failed(run) : undefined],
    ['not_reached', unreached],
    ['passed', 'the command passed'],
  ]
  const [verdict, happened] = found.find(([, text]) => text !== undefined)!
  const own = verdict === 'not_paid' ? unpaid!.level : VERDICTS[verdict]
  const level = isQuestion(verdict, plan, run, judging) ? 'ask' : own
  const sort = verdict === 'wrong_books' ? books?.sort : undefined
  return { verdict, level, happened: happened!, sort }
}

const LISTS = ['listTransactions', 'listTransactionHistory', 'listUserTransactionHistory']

/** Whether a run reads a list of payments more often than those without faults. */
function looksUp(run: Observation, baselines: readonly Observation[]): boolean {
  const reads = ({ calls }: Observation) =>
    calls.filter(({ operation, isFailed }) => LISTS.includes(operation) && !isFailed).length
  return reads(run) > mostOf(baselines, reads)
}

// What follows from not knowing what became of a payment.
const OF_OUTCOME: readonly Verdict[] = ['paid_twice', 'wrong_state', 'relies_on', 'not_paid']

/** Whether no client can guard against what happened. */
function isQuestion(verdict: Verdict, plan: Plan, run: Observation, { baselines }: Judging) {
  if (OF_OUTCOME.includes(verdict) && isUnguarded(plan)) return true
  if (verdict !== 'paid_twice') return false
  const has = (name: string) => plan.some((fault) => fault.name === name)
  // Who has looked the payment up cannot know how long its effect may still take, or that a failure isn't final.
  return has('payment_late_success') || (has('effect_after_timeout') && looksUp(run, baselines))
}
