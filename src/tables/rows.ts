import * as z from 'zod'
import type { Readings } from '../assumptions/readings.ts'
import { BankAccountRow } from '../model/bank-account.ts'
import type { ClientRow } from '../model/client.ts'
import { DeliveryRow, EventRow, TimerRow } from '../model/delivery.ts'
import { Timestamp } from '../model/formats.ts'
import { KycRow } from '../model/kyc.ts'
import { PaymentRow } from '../model/payment.ts'
import { UserRow } from '../model/user.ts'
import { InboxRow, WebhookRow } from '../model/webhook.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'
import type { ScenarioDefinition } from '../scenarios/scenario-schema.ts'
import type { ClockState } from '../time/clock.ts'

const IdempotencyRow = z.strictObject({
  key: z.string(),
  /** A hash of the request body, to recognize a different request with the same key. */
  fingerprint: z.string(),
  status: z.int(),
  body: z.string(),
  /** When the row expires: client's time, ms. */
  expires_at: z.int(),
})

/** A pushed rule: it comes before the scenario. The rule itself is checked where a scenario's rules are. */
const PushedRuleRow = z.strictObject({
  rule_id: z.string(),
  seq: z.int(),
  definition: z.looseObject({}) as unknown as z.ZodType<RuleDefinition>,
  /** When it was pushed; absent if a person wrote the state. */
  pushed_at: z.exactOptional(Timestamp),
})
export type PushedRuleRow = z.infer<typeof PushedRuleRow>

const CounterRow = z.strictObject({ name: z.string(), matched: z.int(), hits: z.int() })

/** The row schemas of the tables that a state document contains. A row is checked when it is read, never when it is stored. */
export const ROWS = {
  users: UserRow,
  kyc: KycRow,
  bank_accounts: BankAccountRow,
  payments: PaymentRow,
  webhook: WebhookRow,
  events: EventRow,
  deliveries: DeliveryRow,
  inbox: InboxRow,
  idempotency: IdempotencyRow,
  timers: TimerRow,
  rules: PushedRuleRow,
  counters: CounterRow,
} as const

/** The active scenario, as stored: a name of the library, or a definition. */
export type ActiveScenario = {
  name: string
  definition?: ScenarioDefinition
  startedAs: string
  /** When it was activated, client's time; absent if a person wrote the state. */
  activated_at?: string
}

/** One value of a world that is not a resource of the service, such as its clock. */
export type SettingRow =
  | { name: 'clock'; value: ClockState & { startedAs: string } }
  | { name: 'scenario'; value: ActiveScenario }
  /** When the access token was issued: client's time, ms. */
  | { name: 'token'; value: { issued_at: number } }
  /** The readings that were chosen by a call. */
  | { name: 'assumptions'; value: Readings }

export type Rows = { [T in keyof typeof ROWS]: z.infer<(typeof ROWS)[T]> } & {
  client: ClientRow
  settings: SettingRow
}
