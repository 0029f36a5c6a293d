import * as z from 'zod'
import { Timestamp } from './formats.ts'
import { listFields, listQuery } from './paging.ts'

/** A request to the built-in receiver, as stored and shown; signatures masked. */
export const InboxRow = z
  .strictObject({
    message_id: z.string(),
    received_at: Timestamp,
    webhook_id: z.string().nullable(),
    /** The type of the event, if the body has one. */
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
  .meta({ id: 'InboxMessage' })
export type InboxRow = z.infer<typeof InboxRow>

export const InboxQuery = listQuery(50)
export const InboxResponse = z
  .strictObject({
    total: z.int(),
    ...listFields,
    total_pages: z.int(),
    messages: z.array(InboxRow),
  })
  .meta({ id: 'InboxResponse' })
export const ReceivedResponse = z
  .strictObject({ received: z.literal(true), message_id: z.string(), verified: z.boolean() })
  .meta({ id: 'InboxReceivedResponse' })
export type Received = z.infer<typeof ReceivedResponse>
