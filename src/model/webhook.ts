import * as z from 'zod'
import { text, Uuid } from './formats.ts'
import { SUCCESS } from './sandbox-default.ts'
import { MAX_URL_LENGTH, URL_PATTERN, webhookUrlProblem } from './webhook-url.ts'

/** The client's one webhook as stored. */
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
    format: 'uri',
    pattern: URL_PATTERN,
    description:
      'An absolute http or https URL that a browser can open: its host is valid and its port is 1 to 65535.',
  })
const WebhookSecret = text(256).meta({ writeOnly: true })

/** Body of POST /clientWebhook. */
export const CreateWebhook = z
  .object({ url: WebhookUrl, webhook_secret: WebhookSecret })
  .meta({ id: 'CreateWebhook' })
export type CreateWebhook = z.infer<typeof CreateWebhook>

/** Body of PUT /clientWebhook: either field or both. */
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
export const Webhook = z
  .strictObject({ webhook_id: Uuid, client_id: Uuid, url: z.string() })
  .meta({ id: 'Webhook' })

/** POST and PUT answer with an envelope of their own. */
export const UpdatedWebhookResponse = z
  .strictObject({
    message: z.string(),
    updatedWebhook: z.strictObject({
      response: z.strictObject({ status: SUCCESS, message: z.string(), data: Webhook }),
    }),
  })
  .meta({ id: 'UpdatedWebhookResponse' })
export const GetWebhookResponse = z
  .strictObject({ message: z.string(), data: Webhook })
  .meta({ id: 'GetWebhookResponse' })
