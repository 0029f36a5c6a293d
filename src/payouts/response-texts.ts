import { bankAccountText } from '../model/bank-account.ts'
import { historyTextParts } from '../model/history.ts'
import { kycText } from '../model/kyc.ts'
import type { PaymentRow } from '../model/payment.ts'
import { transactionTextParts } from '../model/transaction.ts'
import { type UserRow, userTextParts } from '../model/user.ts'
import { type Entry, memoizedText } from '../storage/entry.ts'

// The JSON text of a row is memoized. Worlds share rows, so the client's id is inserted when the text is sent.
const userText = memoizedText('text', userTextParts)
const transactionText = memoizedText('text', transactionTextParts)
const historyText = memoizedText('otherText', historyTextParts)

/** Formats one client's rows for its responses: masked JSON text with its client_id. */
export function createViews(clientId: string) {
  return {
    clientId,
    user: (entry: Entry<UserRow>) =>
      `{"user_id":"${entry.id}","client_id":"${clientId}",${userText(entry)}`,
    kyc: memoizedText('text', kycText),
    bankAccount: memoizedText('text', bankAccountText),
    transaction: (entry: Entry<PaymentRow>) =>
      `{"transaction_id":"${entry.id}","client_id":"${clientId}",${transactionText(entry)}`,
    history: (entry: Entry<PaymentRow>) =>
      `{"id":"${entry.row.id}","client_id":"${clientId}",${historyText(entry)}`,
  }
}

export type Views = ReturnType<typeof createViews>
