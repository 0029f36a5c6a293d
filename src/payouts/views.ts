import type * as z from 'zod'
import {
  historyMetadata,
  historyUtr,
  missingRemark,
  processingStatus,
} from '../assumptions/payments.ts'
import type { Assumed } from '../assumptions/readings.ts'
import { statusWords } from '../assumptions/responses.ts'
import { pidAndTid } from '../assumptions/users.ts'
import {
  type BankAccount,
  type BankAccountRow,
  type BenifBank,
  bankNameOf,
} from '../model/bank-account.ts'
import type { ClientProfile, ClientRow } from '../model/client.ts'
import type { KycRecord, KycRow } from '../model/kyc.ts'
import { maskIfsc, maskNumber } from '../model/mask.ts'
import { type PaymentRow, type PaymentStatus, rupeesOf } from '../model/payment.ts'
import { type HistoryRecord, historyUserOf, type Transaction } from '../model/transaction.ts'
import type { User, UserRow } from '../model/user.ts'

/** The status of a payment as the API shows it in `transaction_status`; `processing` is the word for PROCESSING. */
export const apiStatus = (status: PaymentStatus, processing: 'pending' | 'processing') =>
  status === 'PROCESSING' ? processing : (status.toLowerCase() as Lowercase<typeof status>)

type Shown<R> = { readonly row: R }

export const clientProfile = (row: ClientRow): z.output<typeof ClientProfile> => ({
  client_id: row.client_id,
  name: row.name,
  email: row.email,
  email_verified: row.email_verified,
  status: row.status,
  check_kyc: row.check_kyc,
  created_at: row.created_at,
  updated_at: row.updated_at,
  ClientConfigurations: [],
})

const account = (
  bank_id: string,
  user_id: string,
  row: Pick<BankAccountRow, 'account_number' | 'ifsc_code'>,
  bank_status: z.output<typeof BenifBank>['bank_status'],
): z.output<typeof BenifBank> => ({
  bank_id,
  user_id,
  bank_name: null,
  account_number: maskNumber(row.account_number),
  ifsc_code: maskIfsc(row.ifsc_code),
  bank_status,
})

/** Shows one client's rows as its responses and webhooks contain them: masked, and as its readings say. */
export function createViews(clientId: () => string, assumed: Assumed) {
  const kycIds = ({ pid, tid }: UserRow) =>
    assumed.get(pidAndTid) === 'never' ? { pid: null, tid: null } : { pid, tid }

  const user = ({ row }: Shown<UserRow>): z.output<typeof User> => ({
    user_id: row.user_id,
    client_id: clientId(),
    user_type: row.user_type,
    email: row.email,
    mobile: row.mobile,
    ...kycIds(row),
    bank_id: row.bank_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
  })

  const kyc = ({ row }: Shown<KycRow>): z.output<typeof KycRecord> => ({
    kyc_id: row.kyc_id,
    user_id: row.user_id,
    country: row.country,
    document_type: row.document_type,
    document_name: row.document_name,
    document_number: maskNumber(row.document_number),
    full_name: row.full_name,
    dob: row.dob,
    kyc_status: assumed.get(statusWords).kyc[row.kyc_status],
    verified_by: row.verified_by,
    vp: null,
    metadata: row.metadata,
    created_at: row.created_at,
    updated_at: row.updated_at,
  })

  /** A bank account with the result of its check, which only the response that adds it contains. */
  const addedBankAccount = <Check extends object>(row: BankAccountRow, check: Check) => ({
    ...account(row.bank_id, row.user_id, row, assumed.get(statusWords).bank[row.bank_status]),
    ...check,
    created_at: row.created_at,
    updated_at: row.updated_at,
  })

  const bankAccount = ({ row }: Shown<BankAccountRow>): z.output<typeof BankAccount> =>
    addedBankAccount(row, {})

  const transaction = ({ row }: Shown<PaymentRow>): z.output<typeof Transaction> => ({
    transaction_id: row.transaction_id,
    client_id: clientId(),
    reference_id: row.reference_id,
    from_user_id: row.from_user_id,
    to_user_id: row.to_user_id,
    benif_bank_id: row.benif_bank_id,
    currency_code: row.currency_code,
    transaction_type: row.transaction_type,
    amount: rupeesOf(row.paise),
    utr: row.utr && maskNumber(row.utr),
    transaction_status: apiStatus(row.status, assumed.get(processingStatus)),
    created_at: row.created_at,
    updated_at: row.updated_at,
    // As it was when the payment was made, so no reading changes its word.
    benif_bank: account(row.benif_bank_id, row.to_user_id, row, row.bank_status),
  })

  /** A payment as a record of the history of a user (default: the client's history). */
  const history = (
    { row }: Shown<PaymentRow>,
    user_id = historyUserOf(row),
  ): z.output<typeof HistoryRecord> => ({
    id: row.id,
    client_id: clientId(),
    client_transaction_id: row.client_transaction_id,
    partner_transaction_id: row.partner_transaction_id,
    user_id,
    account_holder_name: row.account_name,
    account_number: maskNumber(row.account_number),
    ifsc_code: maskIfsc(row.ifsc_code),
    bank_name: bankNameOf(row.ifsc_code),
    amount: rupeesOf(row.paise),
    status: row.status,
    currency: row.currency_code,
    utr: row.utr && assumed.get(historyUtr) === 'masked' ? maskNumber(row.utr) : row.utr,
    remark: row.remark || assumed.get(missingRemark),
    metadata: assumed.get(historyMetadata) === 'reason' ? row.failure : null,
    created_at: row.created_at,
    updated_at: row.updated_at,
  })

  return {
    clientId,
    user,
    kyc,
    bankAccount,
    addedBankAccount,
    transaction,
    history,
    /** A payment in both views, as its events contain it. */
    payment: (entry: Shown<PaymentRow>) => ({ ...transaction(entry), history: history(entry) }),
  }
}

export type Views = ReturnType<typeof createViews>
