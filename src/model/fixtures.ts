import * as z from 'zod'
import { AccountNumber, BankStatus, IfscCode } from './bank-account.ts'
import { ClientName, ClientRow } from './client.ts'
import { IsoDate, text, Uuid } from './formats.ts'
import { DocumentName, DocumentType, KycStatus, PanResult } from './kyc.ts'
import { PaymentStatus, paiseOf } from './payment.ts'
import { AnyEmail, AnyMobile, CreateUser } from './user.ts'
import { CreateWebhook } from './webhook.ts'

/** An instant in UTC as a person writes it; rows have it with milliseconds. */
const Time = z.iso.datetime().transform((text) => new Date(text).toISOString())
const times = { created_at: Time.default('2025-01-06T03:30:00.000Z'), updated_at: Time.optional() }

const RUPEES = 'must be rupees such as 250, 250.5 or "250.00"'
const Rupees = z
  .union([z.number(), z.string()], { error: RUPEES })
  .refine((amount) => paiseOf(amount) !== undefined, { error: RUPEES })

const owner = { client: ClientName.default('default') }

/** The row schemas of a fixture file, by noun; `fixtures/README.md` explains them. */
export const FIXTURE_ROWS = {
  clients: ClientRow.partial({
    client_id: true,
    access_token: true,
    name: true,
    email: true,
  }).extend({
    email_verified: z.boolean().default(true),
    status: ClientRow.shape.status.default('active'),
    check_kyc: z.boolean().default(false),
    ...times,
  }),
  users: z.strictObject({
    ...owner,
    user_id: Uuid.optional(),
    user_type: CreateUser.shape.user_type,
    email: AnyEmail,
    mobile: AnyMobile,
    ...times,
  }),
  kyc: z.strictObject({
    kyc_id: Uuid.optional(),
    user_id: Uuid,
    document_type: DocumentType,
    document_name: DocumentName,
    document_number: text(64, 0),
    full_name: text(200),
    dob: IsoDate,
    country: z
      .string()
      .regex(/^[A-Z]{2}$/)
      .default('IN'),
    kyc_status: KycStatus,
    verified_by: z.enum(['client', 'system']),
    message: z.string().optional(),
    statusCode: z.int().optional(),
    result: PanResult.omit({ pan: true }).optional(),
    ...times,
  }),
  bank_accounts: z.strictObject({
    bank_id: Uuid.optional(),
    user_id: Uuid,
    account_number: AccountNumber,
    ifsc_code: IfscCode,
    bank_status: BankStatus,
    account_holder_name: z.string(),
    ...times,
  }),
  transactions: z.strictObject({
    transaction_id: Uuid.optional(),
    id: Uuid.optional(),
    reference_id: text(100).optional(),
    client_transaction_id: text(100).optional(),
    partner_transaction_id: text(100).optional(),
    from_user_id: Uuid,
    to_user_id: Uuid,
    benif_bank_id: Uuid,
    amount: Rupees,
    transaction_type: z.enum(['debit', 'credit']).default('debit'),
    status: PaymentStatus,
    utr: text(100).optional(),
    remark: text(50, 0).default(''),
    reason: text(100).optional(),
    ...times,
  }),
  webhooks: z.strictObject({ ...owner, webhook_id: Uuid.optional(), ...CreateWebhook.shape }),
} as const

/** The nouns of a fixture set: the keys of one file, or the file names of a folder. */
export type FixtureNoun = keyof typeof FIXTURE_ROWS

export const FIXTURE_FILES: readonly string[] = Object.keys(FIXTURE_ROWS).map(
  (noun) => `${noun.replaceAll('_', '-')}.json`,
)

/** A validated set of fixtures, whose rows may lack ids. */
export type FixtureSet = { [N in FixtureNoun]: z.output<(typeof FIXTURE_ROWS)[N]>[] }

type Derived = {
  clients: 'client_id' | 'access_token' | 'name' | 'email'
  users: 'user_id'
  kyc: 'kyc_id'
  bank_accounts: 'bank_id'
  transactions: 'transaction_id' | 'id' | 'partner_transaction_id'
  webhooks: 'webhook_id'
}
export type Fixtures = {
  [N in FixtureNoun]: (FixtureSet[N][number] & Record<Derived[N], string>)[]
}
