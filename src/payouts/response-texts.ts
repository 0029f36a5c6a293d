import type { Assumed } from '../assumptions/assumed.ts'
import { processingStatus } from '../assumptions/processing-status.ts'
import { bankAccountText } from '../model/bank-account.ts'
import { historyTextParts } from '../model/history.ts'
import { type JsonText, json, unescaped } from '../model/json-text.ts'
import { kycText } from '../model/kyc.ts'
import type { PaymentRow } from '../model/payment.ts'
import { transactionTextParts } from '../model/transaction.ts'
import { type UserRow, userTextParts } from '../model/user.ts'
import { type Entry, memoizedText } from '../storage/entry.ts'

const memoized = <R>(slot: 'text' | 'otherText', render: (row: R) => JsonText) =>
  memoizedText(slot, render) as (entry: Entry<R>) => JsonText

// The JSON text of a row is memoized, if the readings are the default ones. Worlds share rows, so the client's id is inserted when the text is sent.
const userText = memoized('text', userTextParts)
const transactionText = memoized('text', (row: PaymentRow) => transactionTextParts(row, 'pending'))
const historyText = memoized('otherText', historyTextParts)

/** Formats one client's rows for its responses: masked JSON text with its client_id, as its readings say. */
export function createViews(clientId: string, assumed: Assumed) {
  const processing = assumed.get(processingStatus)
  const transactionParts =
    processing === 'pending'
      ? transactionText
      : ({ row }: Entry<PaymentRow>) => transactionTextParts(row, processing)
  const client = json(`"client_id":"${unescaped(clientId)}"`)
  const transactionFields = (entry: Entry<PaymentRow>) =>
    json(`"transaction_id":"${unescaped(entry.id)}",${client},${transactionParts(entry)}`)
  const history = (entry: Entry<PaymentRow>) =>
    json(`{"id":"${unescaped(entry.row.id)}",${client},${historyText(entry)}}`)
  return {
    clientId,
    /** The readings of these views. */
    readings: assumed.readings,
    user: (entry: Entry<UserRow>) =>
      json(`{"user_id":"${unescaped(entry.id)}",${client},${userText(entry)}}`),
    kyc: memoized('text', kycText),
    bankAccount: memoized('text', bankAccountText),
    transaction: (entry: Entry<PaymentRow>) => json(`{${transactionFields(entry)}}`),
    history,
    /** A payment in both views, as its events contain it. */
    payment: (entry: Entry<PaymentRow>) =>
      json(`{${transactionFields(entry)},"history":${history(entry)}}`),
  }
}

export type Views = ReturnType<typeof createViews>
