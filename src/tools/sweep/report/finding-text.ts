// tools/sweep/report/: what a sweep leaves behind: its result as JSON, for people and for CI, and the steps to see a finding
// again. write-report.ts writes the folder.

import { countOf } from '../../../model/words.ts'
import type { Finding, Verdict } from '../faults-and-findings.ts'

const SEND_ONCE = 'look for the payment by its reference before you send it again'

/** What to change after a verdict, and after some of the faults that lead to it. */
const ADVICE: Readonly<Partial<Record<Verdict, string>>> = {
  paid_twice: SEND_ONCE,
  wrong_amount: 'send the amount that was ordered, in paise or as an exact decimal',
  paid_unverified: 'pay when both the KYC and the account are verified, and ask right before',
  wrong_books: 'book each payment once, by its id, from what the service says last',
  wrong_state: 'read the payment again after an event or a failure, and keep what it says last',
  accepted_forged: 'verify the signature and the time of an event before you read it',
  lost_event: 'answer 500 to an event that you could not handle, and it comes again',
  hung: 'give each call a timeout',
  retry_storm: 'wait longer before each try, and as long as Retry-After asks',
  relies_on: 'accept all that the contract permits',
  not_paid: 'wait until the payment has ended, and treat FAILED as not paid',
  not_recovered: 'find out what became of the call, and go on from there',
}
const PAID_TWICE: readonly (readonly [faults: readonly string[], advice: string])[] = [
  [['two_workers', 'race'], 'claim a payout in one atomic step before you look it up and pay'],
  [['slow', 'slow_after'], 'let a claim last longer than your longest call, and renew it'],
  [['kill'], 'save the reference before you send, and look for it after a start'],
]

export function adviceFor({
  verdict,
  level,
  plan,
}: Pick<Finding, 'verdict' | 'level' | 'plan'>): string {
  if (level === 'ask') return 'ask your provider, as no client can guard against it'
  const names = plan.map(({ name }) => name)
  const own = PAID_TWICE.find(([faults]) => faults.some((one) => names.includes(one)))
  return (verdict === 'paid_twice' && own?.[1]) || ADVICE[verdict]!
}

const sentence = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}.`

/** A finding in sentences: what happened to the money, after which fault, what came first then, and what to change. */
export function explained(found: Finding): string[] {
  const { happened, what, same, divergence } = found
  const more = same.length === 0 ? '' : `; the same with ${countOf(same.length, 'more fault')}`
  return [
    sentence(happened),
    ...(found.plan.length > 0 ? [sentence(`${what}${more}`)] : []),
    ...(divergence ? [sentence(`first, ${divergence.text}`)] : []),
    sentence(adviceFor(found)),
  ]
}
