import * as z from 'zod'
import type { BankAccount, BankStatus } from '../model/bank-account.ts'
import type { FieldError } from '../model/errors.ts'
import type { KycRecord, KycStatus } from '../model/kyc.ts'
import { assumption, changeFields, choice, type SchemaChange, unchanged } from './assumption.ts'

type ShownError = { status: number; code: string; message: string; errors?: readonly FieldError[] }

export type ErrorForm = { type: string; text: (error: ShownError) => string }

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string) => text.replace(/[&<>]/g, (character) => ENTITIES[character]!)

/** The error body of everything but the service, such as the admin API. */
export const ENVELOPE: ErrorForm = {
  type: 'application/json; charset=utf-8',
  text: ({ status, code, message, errors = [] }) =>
    JSON.stringify({ status: false, code: status, error: code, message, data: null, errors }),
}

export const errorBody = assumption<ErrorForm>({
  name: 'error_body',
  section: '7',
  concerns: ['all calls'],
  question: "What's the body of an error?",
  basis: 'guess',
  why: 'Code that reads a missing field breaks.',
  readings: {
    envelope: { does: 'the envelope with `error`, `message` and `errors`', value: ENVELOPE },
    message_only: {
      does: '`{"message": "…"}`',
      value: { ...ENVELOPE, text: ({ message }) => JSON.stringify({ message }) },
    },
    html: {
      does: 'a small HTML page, as gateways send',
      value: {
        type: 'text/html; charset=utf-8',
        text: ({ status, message }) =>
          `<!DOCTYPE html>\n<html><head><title>Error ${status}</title></head><body><h1>Error ${status}</h1><p>${escaped(message)}</p></body></html>\n`,
      },
    },
  },
})

const IDS = [
  'userId',
  'transaction_id',
  'user_id',
  'from_user_id',
  'to_user_id',
  'benif_bank_id',
] as const

const AnyId = z.string().max(100)

export const malformedId = assumption<SchemaChange>({
  name: 'malformed_id',
  section: '4, 7',
  concerns: [
    'getUser',
    'createTransaction',
    'getTransaction',
    'listUserTransactionHistory',
    'submitKyc',
    'getKyc',
    'addBankAccount',
    'listBankAccounts',
  ],
  question: 'What error does a malformed id return?',
  basis: 'guess',
  why: 'A branch on the status goes wrong.',
  readings: {
    bad_request: { does: '400 `validation_failed`', value: unchanged },
    not_found: {
      does: '404 `not_found`',
      value: changeFields(IDS, () => AnyId),
    },
  },
})

/** The word that responses and webhooks show for each status. */
export type StatusWords = {
  kyc: Readonly<Record<KycStatus, z.output<typeof KycRecord>['kyc_status']>>
  bank: Readonly<Record<BankStatus, z.output<typeof BankAccount>['bank_status']>>
}

const PLAIN: StatusWords = {
  kyc: { pending: 'pending', success: 'success', failed: 'failed' },
  bank: { pending: 'pending', success: 'success', failed: 'failed' },
}

export const statusWords = assumption<StatusWords>({
  name: 'status_words',
  section: '2.2, 2.3',
  concerns: ['submitKyc', 'getKyc', 'addBankAccount', 'listBankAccounts', 'webhooks'],
  question: 'Which other words do `kyc_status` and `bank_status` have?',
  basis: 'guess',
  why: 'Code that waits for another word hangs.',
  readings: {
    plain: { does: 'KYC: `success`; bank: `pending`, `failed`', value: PLAIN },
    other: {
      does: 'KYC: `verified`; bank: `in_progress`, `rejected`. Event names stay',
      value: {
        kyc: { ...PLAIN.kyc, success: 'verified' },
        bank: { ...PLAIN.bank, pending: 'in_progress', failed: 'rejected' },
      },
    },
  },
})

/** A word that the contract does not list, for each word of a status that is not final; it lists all words of the history. */
const NEW_WORD: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  transaction_status: { pending: 'queued', processing: 'queued' },
  kyc_status: { pending: 'in_review' },
  bank_status: { pending: 'in_review' },
}

function renew(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renew)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, inner]) => {
    const word = typeof inner === 'string' ? NEW_WORD[name]?.[inner] : undefined
    return [name, word ?? renew(inner)]
  })
  return { ...Object.fromEntries(fields), new_field: 'unknown' }
}

export const newWords = assumption<(body: object) => unknown>({
  name: 'new_words',
  section: '3',
  concerns: ['all calls', 'webhooks'],
  question: "Are there fields and statuses the contract doesn't list?",
  basis: 'guess',
  why: 'Code that rejects unknown words breaks.',
  readings: {
    none: { does: 'no', value: (body) => body },
    some: {
      does: 'a `new_field` in each object; `queued` or `in_review` for open statuses',
      value: renew,
    },
  },
})

export const entryStatus = assumption<(ok: boolean) => boolean>({
  name: 'entry_status',
  section: '4.4, 4.5',
  concerns: ['submitKyc', 'addBankAccount'],
  question: "What's the `status` beside a failed KYC record or refused account?",
  basis: 'guess',
  why: 'Code that reads only `status` misses failures.',
  readings: {
    true: { does: 'true; only `kyc_status` or `bank_status` shows the failure', value: () => true },
    false: { does: 'false', value: (ok) => ok },
  },
})

export const unknownId = choice({
  name: 'unknown_id',
  section: '4.2, 4.5',
  concerns: ['getTransaction', 'listBankAccounts'],
  question: 'What do GET /transaction/ID and GET /bank/ID return for an unknown id?',
  basis: 'guess',
  why: 'Reading `data[0]` breaks under `empty`.',
  readings: { not_found: '404 `not_found`', empty: '200 with an empty array' },
})
