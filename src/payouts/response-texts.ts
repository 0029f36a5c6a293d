import type { Assumed } from '../assumptions/assumed.ts'
import { historyMetadata } from '../assumptions/history-metadata.ts'
import { historyUtr } from '../assumptions/history-utr.ts'
import { missingRemark } from '../assumptions/missing-remark.ts'
import { processingStatus } from '../assumptions/processing-status.ts'
import { statusWords } from '../assumptions/status-words.ts'
import type { BankAccountRow } from '../model/bank-account.ts'
import { historyUserOf } from '../model/history-users.ts'
import { type JsonText, json, unescaped } from '../model/json-text.ts'
import type { KycRow } from '../model/kyc.ts'
import type { PaymentRow } from '../model/payment.ts'
import {
  accountTextParts,
  bankAccountText,
  type HistoryView,
  historyTextParts,
  kycText,
  transactionTextParts,
  userTextParts,
} from '../model/row-texts.ts'
import type { UserRow } from '../model/user.ts'
import type { Entry } from '../store/table.ts'

const rendered =
  <R>(render: (row: R) => JsonText) =>
  ({ row }: Entry<R>): JsonText =>
    render(row)

const userText = rendered(userTextParts)
const transactionText = rendered((row: PaymentRow) => transactionTextParts(row, 'pending'))
const plainKyc = rendered(kycText)
const plainAccount = rendered(bankAccountText)
const PLAIN_HISTORY: HistoryView = {
  hasReason: true,
  noRemark: '',
  utrOf: historyUtr.readings['whole']!.value,
}
const historyText = rendered((row: PaymentRow) => historyTextParts(row, PLAIN_HISTORY))

/** The functions that show KYC records and bank accounts with the words of a client. */
function createStatusViews(assumed: Assumed) {
  const words = assumed.get(statusWords)
  const withWord = (row: BankAccountRow) =>
    ({ ...row, bank_status: words.bank[row.bank_status] }) as BankAccountRow
  const accountParts = (row: BankAccountRow) =>
    accountTextParts(row.bank_id, row.user_id, withWord(row))
  if (words.isPlain) return { kyc: plainKyc, bankAccount: plainAccount, accountParts }
  return {
    kyc: ({ row }: Entry<KycRow>) =>
      kycText({ ...row, kyc_status: words.kyc[row.kyc_status] } as KycRow),
    bankAccount: ({ row }: Entry<BankAccountRow>) => bankAccountText(withWord(row)),
    accountParts,
  }
}

/** Formats one client's rows for its responses: masked JSON text with its client_id, as its readings say. */
export function createViews(clientId: string, assumed: Assumed) {
  const processing = assumed.get(processingStatus)
  const transactionParts =
    processing === 'pending'
      ? transactionText
      : ({ row }: Entry<PaymentRow>) => transactionTextParts(row, processing)
  const historyView: HistoryView = {
    hasReason: assumed.get(historyMetadata),
    noRemark: assumed.get(missingRemark),
    utrOf: assumed.get(historyUtr),
  }
  const isPlain =
    historyView.hasReason === PLAIN_HISTORY.hasReason &&
    historyView.noRemark === PLAIN_HISTORY.noRemark &&
    historyView.utrOf === PLAIN_HISTORY.utrOf
  const client = json(`"client_id":"${unescaped(clientId)}"`)
  const transactionFields = (entry: Entry<PaymentRow>) =>
    json(`"transaction_id":"${unescaped(entry.id)}",${client},${transactionParts(entry)}`)
  /** A payment as a record of the history of a user (default: the client's history). */
  function history(entry: Entry<PaymentRow>, userId = historyUserOf(entry.row)) {
    const { row } = entry
    const parts =
      isPlain && userId === historyUserOf(row)
        ? historyText(entry)
        : historyTextParts(row, historyView, userId)
    return json(`{"id":"${unescaped(row.id)}",${client},${parts}}`)
  }
  return {
    clientId,
    /** The readings of these views. */
    readings: assumed.readings,
    user: (entry: Entry<UserRow>) =>
      json(`{"user_id":"${unescaped(entry.id)}",${client},${userText(entry)}}`),
    ...createStatusViews(assumed),
    transaction: (entry: Entry<PaymentRow>) => json(`{${transactionFields(entry)}}`),
    history,
    /** A payment in both views, as its events contain it. */
    payment: (entry: Entry<PaymentRow>) =>
      json(`{${transactionFields(entry)},"history":${history(entry)}}`),
  }
}

export type Views = ReturnType<typeof createViews>
