import * as z from 'zod'
import { type Readings, readingProblem } from '../assumptions/readings.ts'
import { AccountNumber, IfscCode } from '../model/bank-account.ts'
import { ClientRow } from '../model/client.ts'
import { isClockTime, isObject, Timestamp } from '../model/formats.ts'
import { MAX_PAISE } from '../model/payment.ts'
import { AnyEmail, AnyMobile } from '../model/user.ts'
import { CreateWebhook } from '../model/webhook.ts'
import { FORMAT } from '../store/errors.ts'
import { ROWS } from '../tables/rows.ts'
import { checkTimer } from './timer-payloads.ts'

const { url, webhook_secret } = CreateWebhook.shape

/** The rows of a state: as they are stored, but a person may have written them, so some fields are checked more. */
export const STATE_ROWS = {
  ...ROWS,
  users: ROWS.users.extend({ email: AnyEmail, mobile: AnyMobile }),
  bank_accounts: ROWS.bank_accounts.extend({ account_number: AccountNumber, ifsc_code: IfscCode }),
  payments: ROWS.payments.extend({ paise: z.int().min(0).max(MAX_PAISE) }),
  webhook: ROWS.webhook.extend({ url, webhook_secret: webhook_secret.optional() }),
  timers: ROWS.timers.superRefine(checkTimer),
}

const tables = Object.fromEntries(
  Object.entries(STATE_ROWS).map(([name, row]) => [name, z.array(row as z.ZodType)]),
) as unknown as { [K in keyof typeof STATE_ROWS]: z.ZodArray<(typeof STATE_ROWS)[K]> }

function checkReadings(readings: Readings, context: z.RefinementCtx) {
  for (const [name, reading] of Object.entries(readings)) {
    const problem = readingProblem(name, reading)
    if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem })
  }
}
const StoredReadings = z.record(z.string(), z.string()).superRefine(checkReadings)

// The counter of the random series must stay exact: near 2^53, adding 1 has no effect. The numbers above this limit are
// never used up.
const MAX_DRAWS = 2 ** 48

const IDS = { client_id: true, access_token: true } as const
/** What an exported state says about the client. */
export const Profile = ClientRow.omit({ client: true, ...IDS })

/** A whole world as JSON: in `clients` of db.json, and as it is exported, imported and started from. */
export const State = z
  .strictObject({
    format: z.literal(1),
    clock: z.strictObject({
      now: Timestamp.refine((text) => isClockTime(Date.parse(text)), {
        error: 'must not be before the year 1970',
      }),
      mode: z.enum(['real', 'frozen']),
      speed: z.number().gt(0).max(1_000_000),
      /** In the data file: when the client's time was `now`, on the clock of the machine. */
      as_of: Timestamp.optional(),
      /** In the data file: the clock options of the start; with others, a start applies them. */
      started_as: z.string().optional(),
    }),
    /** When the access token was issued (default: now). */
    token_issued_at: Timestamp.optional(),
    /** The readings that are not the default. */
    assumptions: StoredReadings.optional(),
    /** In the data file: the readings that calls have chosen. */
    assumptions_by_call: StoredReadings.optional(),
    scenario: z.strictObject({
      name: z.string(),
      definition: z.looseObject({}).optional(),
      activated_at: Timestamp.optional(),
      /** In the data file: the start scenario; with another one, a start applies it. */
      started_as: z.string().optional(),
    }),
    /** The position in the random series. */
    draws: z.int().min(0).max(MAX_DRAWS),
    /** In the data file: the options of the call that created the client. */
    start: z.looseObject({}).optional(),
    /** In the data file: the key of the fixtures that the client started with. */
    fixtures: z.string().optional(),
    profile: Profile.extend(ClientRow.pick(IDS).partial().shape),
    tables: z.strictObject(tables),
  })
  .meta({ id: 'State' })
export type State = z.infer<typeof State>

/** A whole `db.json`, of which a call or a client takes one state. */
export const DataFile = z
  .looseObject({ format: z.literal(FORMAT), clients: z.record(z.string(), z.looseObject({})) })
  .meta({ id: 'DataFile' })

/** Whether a value is a whole data file, or is meant to be one. */
export const isDataFile = (value: unknown): value is { clients: Record<string, unknown> } =>
  isObject(value) && isObject(value['clients'])
