import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import { InboxQuery, InboxResponse, ReceivedResponse } from '../../model/inbox.ts'
import { pagesOf } from '../../model/paging.ts'

const bytesOf = (body: unknown): Uint8Array =>
  body instanceof Uint8Array ? body : new Uint8Array(0)

/** The calls of the inbox, the built-in webhook receiver. */
export const inboxCalls = [
  adminCall({
    id: 'receiveWebhook',
    summary: 'Receive a webhook: accepts any body, verifies the signature; needs no admin token',
    raw: true,
    response: ReceivedResponse,
    handle({ inbox }, { headers, body }) {
      const { message_id, verified } = inbox.receive(headers, bytesOf(body))
      return { received: true as const, message_id, verified }
    },
  }),
  adminCall({
    id: 'listInbox',
    summary:
      'List the messages that the inbox received, newest first, with the result of each verification',
    query: InboxQuery,
    response: InboxResponse,
    handle({ inbox }, { query: { page, limit } }) {
      const { total, messages } = inbox.list({ page, limit })
      return { total, page, limit, total_pages: pagesOf(total, limit), messages }
    },
  }),
  adminCall({
    id: 'clearInbox',
    summary: 'Delete all messages of the inbox',
    response: z.strictObject({ deleted: z.int() }).meta({ id: 'ClearedInboxResponse' }),
    handle: ({ inbox }) => ({ deleted: inbox.clear() }),
  }),
]
