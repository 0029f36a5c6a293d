import { missingWebhook } from '../../assumptions/webhooks.ts'
import { operation } from '../../http/operation.ts'
import { GetClientProfileResponse } from '../../model/client.ts'
import { success } from '../../model/paging.ts'
import {
  CreateWebhook,
  GetWebhookResponse,
  UpdatedWebhookResponse,
  UpdateWebhook,
  type WebhookRow,
} from '../../model/webhook.ts'
import { clientProfile } from '../../payouts/views.ts'
import type { World } from '../../world/world.ts'

/** Returns a webhook as responses contain it, without its secret. */
const webhookData = (world: World, { webhook_id, url }: WebhookRow) => ({
  webhook_id,
  client_id: world.payouts.profile().client_id,
  url,
})

const updatedWebhook = (world: World, message: string, row: WebhookRow) => ({
  message,
  updatedWebhook: { response: { status: true as const, message, data: webhookData(world, row) } },
})

export const clientOperations = [
  operation({
    id: 'getClientProfile',
    method: 'GET',
    url: '/client/profile',
    tokenNeeded: true,
    tag: 'Client',
    summary: 'Read the profile of the authenticated client',
    status: 200,
    response: GetClientProfileResponse,
    handle: (world) =>
      success(200, 'Client profile fetched successfully', clientProfile(world.payouts.profile())),
  }),
  operation({
    id: 'createWebhook',
    method: 'POST',
    url: '/clientWebhook',
    tag: 'Webhook',
    summary: 'Create the client’s webhook',
    body: CreateWebhook,
    status: 200,
    response: UpdatedWebhookResponse,
    errors: ['webhook_exists'],
    handle: (world, { body }) =>
      updatedWebhook(world, 'Webhook created successfully', world.webhooks.create(body)),
  }),
  operation({
    id: 'getWebhook',
    method: 'GET',
    url: '/clientWebhook',
    tag: 'Webhook',
    summary: 'Read the client’s webhook',
    status: 200,
    response: GetWebhookResponse,
    handle(world) {
      const { webhooks, scenarios } = world
      const mayMiss = scenarios.assumptions.get(missingWebhook) === 'null'
      const row = mayMiss ? webhooks.current() : webhooks.get()
      return { message: 'Webhook fetched successfully', data: row ? webhookData(world, row) : null }
    },
  }),
  operation({
    id: 'updateWebhook',
    method: 'PUT',
    url: '/clientWebhook',
    tag: 'Webhook',
    summary: 'Change the client’s webhook',
    body: UpdateWebhook,
    status: 200,
    response: UpdatedWebhookResponse,
    handle: (world, { body }) =>
      updatedWebhook(world, 'Webhook updated successfully', world.webhooks.update(body)),
  }),
]
