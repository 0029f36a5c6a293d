import type { BankStatus } from './bank-account.ts'
import type { KycStatus } from './kyc.ts'
import type { PaymentStatus } from './payment.ts'

/** The statuses of the resources that change over time, by the part of an event's name before the dot. */
export type StatusOf = { transaction: PaymentStatus; kyc: KycStatus; bank: BankStatus }
export type LifecycleKind = keyof StatusOf

type Transitions<S extends string> = Readonly<Record<S, readonly S[]>>

const VERIFICATION = { pending: ['success', 'failed'], success: [], failed: [] } as const

/** The statuses that may follow each status; none for a final one. A payment that succeeded may still be reversed. */
const TRANSITIONS: { readonly [K in LifecycleKind]: Transitions<StatusOf[K]> } = {
  transaction: {
    PENDING: ['PROCESSING', 'SUCCESS', 'FAILED'],
    PROCESSING: ['SUCCESS', 'FAILED'],
    SUCCESS: ['FAILED'],
    FAILED: [],
  },
  kyc: VERIFICATION,
  bank: VERIFICATION,
}

/** The statuses with which a new resource may begin. */
export const FIRST_STATUSES: { readonly [K in LifecycleKind]: readonly StatusOf[K][] } = {
  transaction: ['PENDING'],
  kyc: ['pending', 'success', 'failed'],
  bank: ['pending', 'success', 'failed'],
}

/** The statuses that may follow one; none if it is final or unknown. */
export const nextStatuses = (kind: LifecycleKind, from: string): readonly string[] =>
  (TRANSITIONS[kind] as Transitions<string>)[from] ?? []

/** Whether a resource may change from one status to another. */
export const canTransition = (kind: LifecycleKind, from: string, to: string): boolean =>
  nextStatuses(kind, from).includes(to)

/** The statuses that a resource can have after its first one. */
export const laterStatuses = (kind: LifecycleKind): readonly string[] => [
  ...new Set(Object.values<readonly string[]>(TRANSITIONS[kind]).flat()),
]
