// What comes, in words.
import type { Timer } from '../api.ts'
import { rupeesText } from '../format.ts'
import { wordsOf } from './feed.tsx'

type Fields = { amount?: unknown }

/** What each kind is about, if that is not known, and its event. */
const KINDS: Readonly<Record<string, readonly [about: string, event: string]>> = {
  'transaction.step': ['a payment', ''],
  'transaction.utr': ['a payment', 'UTR'],
  'webhook.attempt': ['your webhook', 'webhook '],
  'kyc.step': ['a person', 'KYC '],
  'bank.step': ['a person', 'account '],
  'timeline.entry': ['scenario', ''],
}

/** What a timer does: with the amount and the person, if they are known. */
export function textOfTimer({ kind, payload, amount, name }: Timer): string {
  // The action of a timeline is a word with its fields; a call names its operation.
  const { call, body, ...actions } = (payload['do'] ?? {}) as Record<string, Fields>
  const [[action = '', fields] = []] = Object.entries(actions)
  const word = payload['status'] ?? payload['event'] ?? call ?? wordsOf(action)
  const rupees = (body ?? fields)?.amount
  const of = typeof rupees === 'string' ? ` of ${rupeesText(rupees)}` : ''
  const [noun, event] = KINDS[kind] ?? [wordsOf(kind), '']
  const about = amount === undefined ? (name ?? noun) : `${rupeesText(amount)} to ${name}`
  return `${about}: ${event}${word}${of}`
}
