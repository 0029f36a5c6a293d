import * as z from 'zod'
import { adminCall } from '../../http/admin.ts'
import { InboxQuery, InboxResponse, ReceivedResponse } from '../../model/inbox.ts'
import { pagesOf } from '../../model/list.ts'

const bytesOf = (body: unknown): Uint8Array =>
  body instanceof Uint8Array ? body : new Uint8Array(0)

/** The built-in receiver of webhooks. */
export const inboxCalls = [
  adminCall({
    id: 'receiveWebhook',
    method: 'POST',
    url: '/webhooks/inbox',
    summary: 'A receiver for webhooks: takes anything, checks its signature; needs no admin token',
    raw: true,
    response: ReceivedResponse,
    handle({ inbox }, { headers, body }) {
      const { message_id, verified } = inbox.receive(headers, bytesOf(body))
      return { received: true as const, message_id, verified }
    },
  }),
  adminCall({
    id: 'listInbox',
    method: 'GET',
    url: '/webhooks/inbox',
    summary: 'What reached the receiver, newest first: whether each verifies, and if not, why',
    query: InboxQuery,
    response: InboxResponse,
    handle({ inbox }, { query: { page, limit } }) {
      const { total, messages } = inbox.list({ page, limit })
      return { total, page, limit, total_pages: pagesOf(total, limit), messages }
    },
  }),
  adminCall({
    id: 'clearInbox',
    method: 'DELETE',
    url: '/webhooks/inbox',
    summary: 'Empty the receiver',
    response: z.strictObject({ deleted: z.int() }).meta({ id: 'ClearedInbox' }),
    handle: ({ inbox }) => ({ deleted: inbox.clear() }),
  }),
]
