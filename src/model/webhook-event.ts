import * as z from 'zod'
import { BankAccount } from './bank-account.ts'
import { Timestamp, Uuid } from './formats.ts'
import { HistoryRecord } from './history.ts'
import { KycRecord } from './kyc.ts'
import { Transaction } from './transaction.ts'
import { User } from './user.ts'
import { Webhook } from './webhook.ts'

/** The fields of every event, around the resource as its GET returns it. */
const event = <D extends z.ZodType>(id: string, data: D) =>
  z
    .strictObject({
      id: z.string().regex(/^evt_[0-9a-f]{32}$/),
      type: z.string(),
      timestamp: Timestamp,
      client_id: Uuid,
      data,
    })
    .meta({ id })

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
