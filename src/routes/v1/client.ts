// routes/v1/: the endpoints of the service, as the contract has them. They check and change a world, which has the logic;
// operations.ts puts the lists together.

import { missingWebhook } from '../../assumptions/webhooks.ts'
import { operation } from '../../http/endpoint.ts'
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
    tokenNeeded: true,
    tag: 'Client',
    summary: 'Read the profile of the authenticated client',
    response: GetClientProfileResponse,
    handle: (world) =>
      success(200, 'Client profile fetched successfully', clientProfile(world.payouts.profile())),
  }),
  operation({
    id: 'createWebhook',
    tag: 'Webhook',
    summary: 'Create the client’s webhook',
    body: CreateWebhook,
    response: UpdatedWebhookResponse,
    errors: ['webhook_exists'],
    handle: (world, { body }) =>
      updatedWebhook(world, 'Webhook created successfully', world.webhooks.create(body)),
  }),
  operation({
    id: 'getWebhook',
    tag: 'Webhook',
    summary: 'Read the client’s webhook',
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
    tag: 'Webhook',
    summary: 'Change the client’s webhook',
    body: UpdateWebhook,
    response: UpdatedWebhookResponse,
    handle: (world, { body }) =>
      updatedWebhook(world, 'Webhook updated successfully', world.webhooks.update(body)),
  }),
]
