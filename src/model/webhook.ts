import * as z from 'zod'
import { BankAccount } from './bank-account.ts'
import { SUCCESS } from './client.ts'
import { named, Timestamp, text, Uuid } from './formats.ts'
import { KycRecord } from './kyc.ts'
import { listQuery, pageFields } from './paging.ts'
import { HistoryRecord, Transaction } from './transaction.ts'
import { User } from './user.ts'

export const MAX_URL_LENGTH = 2048

// Generators of clients write \u0000 as the character itself, so it is \x00 here.
const SCHEME = '^[Hh][Tt][Tt][Pp][Ss]?://'
const REST = String.raw`[^\s\\\x00-\x1f\x7f-\x9f]+$`
const ABSOLUTE = new RegExp(SCHEME + REST)

/** What a pattern can say of a webhook URL: no user info and no port 0. */
export const URL_PATTERN: string = `${SCHEME}(?![^/?#]*@)(?![^/?#]*:0+(?:[/?#]|$))${REST}`

/** Why a string is not a webhook URL, as the end of a sentence that starts with "the URL"; `undefined` if it is one. */
export function webhookUrlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `is longer than ${MAX_URL_LENGTH} characters`
  // `URL` corrects spaces, backslashes and missing slashes; then the user would read another URL than the used one.
  if (!ABSOLUTE.test(text) || !URL.canParse(text)) return 'is not an absolute http or https URL'
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return 'has user info in it (`name:password@`)'
  if (new URL(text).port === '0') return 'has port 0, but no receiver can listen on port 0'
  return undefined
}

export const WebhookRow = z.strictObject({
  webhook_id: Uuid,
  url: z.string(),
  webhook_secret: z.string(),
})
export type WebhookRow = z.infer<typeof WebhookRow>

const WebhookUrl = text(MAX_URL_LENGTH)
  .refine((url) => webhookUrlProblem(url) === undefined, {
    error: ({ input }) => webhookUrlProblem(input as string),
  })
  .meta({
    pattern: URL_PATTERN,
    description:
      'An absolute http or https URL that a browser can open: its host is valid and its port is 1 to 65535.',
  })
const WebhookSecret = text(256).meta({ writeOnly: true })

export const CreateWebhook = z
  .object({ url: WebhookUrl, webhook_secret: WebhookSecret })
  .meta({ id: 'CreateWebhook' })
export type CreateWebhook = z.infer<typeof CreateWebhook>

export const UpdateWebhook = z
  .object({ url: WebhookUrl.optional(), webhook_secret: WebhookSecret.optional() })
  .refine((body) => body.url !== undefined || body.webhook_secret !== undefined, {
    path: ['url'],
    error: 'is required, or webhook_secret, or both',
    params: { code: 'required' },
  })
  .meta({
    id: 'UpdateWebhook',
    description: 'url, webhook_secret, or both.',
    minProperties: 1,
    // Generators of types ignore `if`, but make a useless type of an `anyOf`.
    if: { properties: { url: {} }, required: ['url'] },
    else: { properties: { webhook_secret: {} }, required: ['webhook_secret'] },
  })
export type UpdateWebhook = z.infer<typeof UpdateWebhook>

/** Interface 2.7: the secret is never shown. */
export const Webhook = named('Webhook', { webhook_id: Uuid, client_id: Uuid, url: z.string() })

/** POST and PUT answer with an envelope of their own. */
export const UpdatedWebhookResponse = named('UpdatedWebhookResponse', {
  message: z.string(),
  updatedWebhook: z.strictObject({
    response: z.strictObject({ status: SUCCESS, message: z.string(), data: Webhook }),
  }),
})
export const GetWebhookResponse = named('GetWebhookResponse', {
  message: z.string(),
  data: Webhook.nullable(),
})

/** The fields of every event, around the resource as its GET returns it. */
const event = <D extends z.ZodType>(id: string, data: D) =>
  named(id, {
    id: z.string().regex(/^evt_[0-9a-f]{32}$/),
    type: z.string(),
    timestamp: Timestamp,
    client_id: Uuid,
    data,
  })

/** The body of each event, by the noun before the dot in its name. */
export const WEBHOOK_EVENT_BODIES = {
  transaction: event(
    'TransactionEvent',
    Transaction.extend({ history: HistoryRecord }).meta({ id: 'TransactionEventData' }),
  ),
  kyc: event('KycEvent', KycRecord),
  bank: event('BankAccountEvent', BankAccount),
  user: event('UserEvent', User),
  webhook: event('WebhookTestEvent', Webhook),
} as const

/** A request to the built-in receiver, as stored and shown; signatures masked. */
export const InboxRow = named('InboxMessage', {
  message_id: z.string(),
  received_at: Timestamp,
  webhook_id: z.string().nullable(),
  type: z.string().nullable(),
  attempt: z.int().nullable(),
  /** The webhook-id was received before. */
  repeated: z.boolean(),
  verified: z.boolean(),
  /** Why it does not verify: a code and a sentence. */
  code: z.string().nullable(),
  reason: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  /** The body was longer than the stored part. */
  truncated: z.boolean(),
})
export type InboxRow = z.infer<typeof InboxRow>

export const InboxQuery = listQuery(50)
export const InboxResponse = named('InboxResponse', { ...pageFields, messages: z.array(InboxRow) })
export const ReceivedResponse = named('InboxReceivedResponse', {
  received: z.literal(true),
  message_id: z.string(),
  verified: z.boolean(),
})
export type Received = z.infer<typeof ReceivedResponse>
