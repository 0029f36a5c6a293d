import * as z from 'zod'
import { type Readings, readingProblem } from '../assumptions/readings.ts'
import { AccountNumber, IfscCode } from '../model/account-formats.ts'
import { ClientRow } from '../model/client.ts'
import { isClockTime, Timestamp } from '../model/formats.ts'
import { AnyMobile } from '../model/mobile.ts'
import { MAX_PAISE } from '../model/money.ts'
import { CreateWebhook } from '../model/webhook.ts'
import { ROWS } from '../tables/rows.ts'
import { checkTimer } from './timer-payloads.ts'

/** The tables that a state document has as rows; the client and the settings have their own fields in it. */
export type TableName = keyof typeof ROWS
export const TABLE_NAMES = Object.keys(ROWS) as TableName[]

/** The rows of a document: as they are stored, but a person may have written them, so some fields are checked more. */
export const DOCUMENT_ROWS = {
  ...ROWS,
  users: ROWS.users.extend({
    email: z.email().max(254),
    mobile: AnyMobile,
  }),
  bank_accounts: ROWS.bank_accounts.extend({
    account_number: AccountNumber,
    ifsc_code: IfscCode,
  }),
  payments: ROWS.payments.extend({ paise: z.int().min(0).max(MAX_PAISE) }),
  // The secret never leaves the sandbox; a state that a person wrote may bring one.
  webhook: ROWS.webhook.extend({
    url: CreateWebhook.shape.url,
    webhook_secret: CreateWebhook.shape.webhook_secret.optional(),
  }),
  timers: ROWS.timers.superRefine(checkTimer),
}

function checkReadings(readings: Readings, context: z.RefinementCtx) {
  for (const [name, reading] of Object.entries(readings)) {
    const problem = readingProblem(name, reading)
    if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem })
  }
}

// The counter of the random series must stay exact: near 2^53, adding 1 has no effect. The numbers above this limit are
// never used up.
const MAX_DRAWS = 2 ** 48

/** What a document says about the client. */
export const Profile = ClientRow.omit({ client: true, client_id: true, access_token: true })

/** A whole world as one JSON document: all but the client's name, id and token, and its webhook's secret. */
export const StateDocument = z
  .strictObject({
    format: z.literal(1),
    clock: z.strictObject({
      now: Timestamp.refine((text) => isClockTime(Date.parse(text)), {
        error: 'must not be before the year 1970',
      }),
      mode: z.enum(['real', 'frozen']),
      speed: z.number().gt(0).max(1_000_000),
    }),
    /** When the access token was issued. A document of an earlier version does not have it. */
    token_issued_at: Timestamp.optional(),
    /** The readings that are not the default. A document of an earlier version has none. */
    assumptions: z.record(z.string(), z.string()).superRefine(checkReadings).optional(),
    scenario: z.strictObject({ name: z.string(), definition: z.looseObject({}).optional() }),
    /** The position in the random series. */
    draws: z.int().min(0).max(MAX_DRAWS),
    profile: Profile,
    tables: z.strictObject(
      Object.fromEntries(TABLE_NAMES.map((name) => [name, z.array(DOCUMENT_ROWS[name])])) as {
        [K in TableName]: z.ZodArray<(typeof DOCUMENT_ROWS)[K]>
      },
    ),
  })
  .meta({ id: 'State' })
export type StateDocument = z.infer<typeof StateDocument>
