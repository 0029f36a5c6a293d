import type * as z from 'zod'
import type { BankAccount, BankStatus } from '../model/bank-account.ts'
import type { KycRecord, KycStatus } from '../model/kyc.ts'
import { assumption } from './assumption.ts'

/** The word that responses and webhooks show for each status. */
export type StatusWords = {
  kyc: Readonly<Record<KycStatus, z.output<typeof KycRecord>['kyc_status']>>
  bank: Readonly<Record<BankStatus, z.output<typeof BankAccount>['bank_status']>>
}

const PLAIN: StatusWords = {
  kyc: { pending: 'pending', success: 'success', failed: 'failed' },
  bank: { pending: 'pending', success: 'success', failed: 'failed' },
}

/** The words of `kyc_status` and `bank_status` that the contract does not show. */
export const statusWords = assumption<StatusWords>({
  name: 'status_words',
  section: '2.2, 2.3',
  concerns: ['submitKyc', 'getKyc', 'addBankAccount', 'listBankAccounts', 'webhooks'],
  question:
    'Which words do `kyc_status` and `bank_status` have besides those that the contract shows (KYC: pending, failed; bank: success)?',
  basis: 'guessed',
  why: 'The other resources use these words too. A caller that compares with another word waits for ever, which is visible.',
  default: 'plain',
  readings: {
    plain: { does: 'KYC: `success`; bank: `pending`, `failed`', value: PLAIN },
    other: {
      does: 'KYC: `verified`; bank: `in_progress`, `rejected`. The names of webhook events stay',
      value: {
        kyc: { ...PLAIN.kyc, success: 'verified' },
        bank: { ...PLAIN.bank, pending: 'in_progress', failed: 'rejected' },
      },
    },
  },
})
