import * as z from 'zod'
import type { ClockState } from '../core/clock.ts'
import { createTable } from '../core/table.ts'
import { AccountNumber, BankAccountRow, IfscCode } from '../model/bank-account.ts'
import { ClientRow } from '../model/client.ts'
import { Delivery, DeliveryStatus } from '../model/delivery.ts'
import { type FieldError, SandboxError } from '../model/errors.ts'
import { InboxRow } from '../model/inbox.ts'
import { KycRow } from '../model/kyc.ts'
import { MOST_PAISE } from '../model/money.ts'
import { PaymentRow } from '../model/payment.ts'
import { isClockTime, LAST_INSTANT, Timestamp } from '../model/text.ts'
import { CreateUser, UserRow } from '../model/user.ts'
import { CreateWebhook, WebhookRow } from '../model/webhook.ts'
import type { Parts } from './parts.ts'
import { type Scenarios, TIMELINE_ENTRY } from './scenarios.ts'
import { type Rows, TABLES } from './tables.ts'
import { checkTimer } from './timer-payloads.ts'

/** The tables that a state tells row by row; the client and the settings have places of their own in it. */
type TableName = Exclude<keyof Rows, 'client' | 'settings'>

const Whole = z.int()
const ROWS = {
  users: UserRow.extend({
    email: z.email().max(254),
    mobile: CreateUser.shape.mobile,
  }),
  kyc: KycRow,
  bank_accounts: BankAccountRow.extend({ account_number: AccountNumber, ifsc_code: IfscCode }),
  payments: PaymentRow.extend({ paise: Whole.min(0).max(MOST_PAISE) }),
  // The secret never leaves the sandbox; a state that a person wrote may bring one.
  webhook: WebhookRow.extend({
    url: CreateWebhook.shape.url,
    webhook_secret: CreateWebhook.shape.webhook_secret.optional(),
  }),
  events: z.strictObject({
    event_id: z.string(),
    type: z.string(),
    resource_id: z.string(),
    created_at: Timestamp,
    copies: Whole,
    body: z.string(),
  }),
  deliveries: z.strictObject({
    delivery_id: z.string(),
    event_id: z.string(),
    event: z.string(),
    resource_id: z.string(),
    created_at: Timestamp,
    status: DeliveryStatus.exclude(['recorded']),
    ordered: z.boolean(),
    next_attempt_at: Whole.nullable(),
    timer_id: z.string().nullable(),
    attempts: z.array(
      Delivery.shape.attempts.element
        .omit({ headers: true })
        .extend({ timestamp: Whole, signatures: Whole }),
    ),
    hold_until: z.string().optional(),
    once: z.literal(true).optional(),
    fault: z
      .strictObject({
        signature: z.enum(['wrong', 'missing']).optional(),
        timestamp: z.literal('stale').optional(),
        body: z.literal('truncated').optional(),
      })
      .optional(),
    rule: z.string().optional(),
  }),
  inbox: InboxRow,
  idempotency: z.strictObject({
    key: z.string(),
    fingerprint: z.string(),
    status: Whole,
    body: z.string(),
    kept_until: Whole,
  }),
  timers: z
    .strictObject({
      timer_id: z.string(),
      due_at: Whole.min(0).max(LAST_INSTANT),
      seq: Whole,
      kind: z.string(),
      resource_id: z.string().optional(),
      payload: z.record(z.string(), z.unknown()),
    })
    .superRefine(checkTimer),
  rules: z.strictObject({ rule_id: z.string(), seq: Whole, definition: z.looseObject({}) }),
  counters: z.strictObject({ name: z.string(), matched: Whole, hits: Whole }),
} satisfies Record<TableName, z.ZodType>
const TABLE_NAMES = Object.keys(ROWS) as TableName[]

const Profile = ClientRow.omit({ client: true, client_id: true, access_token: true })

/** A whole world as one JSON document: all but the client's name, id and token, and its webhook's secret. */
export const StateDocument = z
  .strictObject({
    format: z.literal(1),
    clock: z.strictObject({
      now: Timestamp.refine((text) => isClockTime(Date.parse(text)), {
        error: 'must not be before the year 1970',
      }),
      mode: z.enum(['real', 'frozen']),
      speed: z.number().gt(0).max(1_000_000),
    }),
    scenario: z.strictObject({ name: z.string(), definition: z.looseObject({}).optional() }),
    /** How far the random series was drawn. */
    draws: Whole.min(0),
    profile: Profile,
    tables: z.strictObject(
      Object.fromEntries(TABLE_NAMES.map((name) => [name, z.array(ROWS[name])])) as {
        [K in TableName]: z.ZodArray<(typeof ROWS)[K]>
      },
    ),
  })
  .meta({ id: 'State' })
export type StateDocument = z.infer<typeof StateDocument>

const MOST_ERRORS = 20

/** What zod can't see: rows that are there twice, and rows that refer to none. */
function relationErrors({ tables, draws }: StateDocument): FieldError[] {
  const errors: FieldError[] = []
  const note = (field: string, message: string) => {
    if (errors.length < MOST_ERRORS) errors.push({ field, code: 'invalid_value', message })
  }
  for (const name of TABLE_NAMES) {
    const spec = TABLES[name] as (typeof TABLES)['users']
    const rows = tables[name] as Rows['users'][]
    const keys = { id: spec.id, ...(spec.uniques as object) } as Record<string, typeof spec.id>
    for (const [key, keyOf] of Object.entries(keys)) {
      const seen = new Set<string>()
      for (const [i, row] of rows.entries()) {
        const value = keyOf(row)
        if (value === undefined) continue
        if (seen.has(value)) note(`tables.${name}[${i}]`, `has the ${key} of a row before it`)
        seen.add(value)
      }
    }
  }
  if (tables.webhook.length > 1) note('tables.webhook', 'must have at most 1 row')
  const users = new Set(tables.users.map((row) => row.user_id))
  const accounts = new Set(tables.bank_accounts.map((row) => row.bank_id))
  const refers = (place: string, known: Set<string>, id: string) => {
    if (!known.has(id)) note(place, 'refers to no row of this state')
  }
  for (const name of ['kyc', 'bank_accounts'] as const)
    for (const [i, row] of tables[name].entries())
      refers(`tables.${name}[${i}].user_id`, users, row.user_id)
  const utrs = new Set<string>()
  for (const [i, row] of tables.payments.entries()) {
    refers(`tables.payments[${i}].from_user_id`, users, row.from_user_id)
    refers(`tables.payments[${i}].to_user_id`, users, row.to_user_id)
    refers(`tables.payments[${i}].benif_bank_id`, accounts, row.benif_bank_id)
    if (row.from_user_id === row.to_user_id)
      note(`tables.payments[${i}].to_user_id`, 'is the payer')
    const { status, utr } = row
    if (status === 'SUCCESS' && utr === null)
      note(`tables.payments[${i}].utr`, 'is missing on a SUCCESS')
    // One that is reversed keeps the number of its SUCCESS.
    if ((status === 'PENDING' || status === 'PROCESSING') && utr !== null)
      note(`tables.payments[${i}].utr`, `is there before a ${status} is a SUCCESS`)
    if (utr !== null && utrs.has(utr))
      note(`tables.payments[${i}].utr`, 'is that of a row before it')
    if (utr !== null) utrs.add(utr)
  }
  const events = new Set(tables.events.map((row) => row.event_id))
  for (const [i, row] of tables.deliveries.entries())
    refers(`tables.deliveries[${i}].event_id`, events, row.event_id)
  // A rule's may be: rules outlive a reset of the data, with which the series starts anew.
  for (const [i, { seq }] of tables.timers.entries())
    if (seq > draws) note(`tables.timers[${i}].seq`, 'must not be above draws')
  return errors
}

const refused = (errors: FieldError[]) =>
  new SandboxError(
    'validation_failed',
    `The state is refused: ${errors[0]!.field} ${errors[0]!.message}.`,
    { errors },
  )

export type StateDeps = Parts & {
  scenarios: Scenarios
  clockNow: () => ClockState
  adopt: (load: () => void) => void
}

/** A client's whole state, out and in. */
export function createState({ store, scenarios, clockNow, adopt }: StateDeps) {
  // A state that comes back to its client finds the secret that the webhook of it had.
  const secrets = new Map<string, string>()

  function document(
    rowsOf: <K extends keyof Rows>(table: K) => Iterable<Rows[K]>,
    clock: ClockState,
    draws: number,
  ): StateDocument {
    const [{ client: _, client_id: __, access_token: ___, ...profile }] = [...rowsOf('client')] as [
      ClientRow,
    ]
    const settings = [...rowsOf('settings')]
    const scenario = settings.find((row) => row.name === 'scenario')!.value as {
      name: string
      definition?: object
    }
    const tables = Object.fromEntries(
      TABLE_NAMES.map((name) => [name, [...rowsOf(name)]]),
    ) as unknown as StateDocument['tables']
    tables.webhook = tables.webhook.map(({ webhook_secret, ...row }) => {
      secrets.set(row.webhook_id, webhook_secret!)
      return row
    })
    const { mode, speed, anchor } = clock
    return {
      format: 1,
      clock: { now: new Date(anchor).toISOString(), mode, speed },
      scenario: {
        name: scenario.name,
        ...(scenario.definition && { definition: scenario.definition as never }),
      },
      draws,
      profile,
      tables,
    }
  }

  /** The webhook with its secret: that of the document, else the present one, else the one it was told out with. */
  function webhookOf({ tables }: StateDocument): WebhookRow[] {
    const present = store.tables.webhook.newest('all', 'all')?.row.webhook_secret
    return tables.webhook.map((row, i) => {
      const webhook_secret = row.webhook_secret ?? present ?? secrets.get(row.webhook_id)
      if (webhook_secret !== undefined) return { ...row, webhook_secret }
      const message =
        'is required: a state is told without it, and this client has no webhook whose secret could be kept'
      throw refused([{ field: `tables.webhook[${i}].webhook_secret`, code: 'required', message }])
    })
  }

  return {
    /** What is now. */
    export: () => document((table) => store.tables[table].rows(), clockNow(), store.random.counter),
    /** What was at a snapshot. */
    exportSnapshot(name: string): StateDocument {
      const { images, counter } = store.snapshots.get(name)!
      const clock = createTable(TABLES.settings, images.settings).get('clock')
      return document(
        (table) => createTable(TABLES[table], images[table]).rows(),
        clock!.value as ClockState,
        counter,
      )
    },
    /** Refuses a document that can't be taken over as it is; answers the verb that takes it over. */
    async check(state: StateDocument): Promise<() => void> {
      const errors = relationErrors(state)
      if (errors.length > 0) throw refused(errors)
      const { scenario, tables } = state
      if (scenario.definition) await scenarios.check(scenario.definition)
      else scenarios.checkName(scenario.name)
      for (const { definition } of tables.rules) await scenarios.checkRule(definition)
      for (const { kind, payload } of tables.timers) {
        if (kind !== TIMELINE_ENTRY) continue
        const { use, rule } = payload['do'] as { use?: string; rule?: object }
        if (use !== undefined) scenarios.checkName(use)
        if (rule !== undefined) await scenarios.checkRule(rule)
      }
      return () => take(state)
    },
  }

  function take(state: StateDocument) {
    const { clock, scenario, draws, profile, tables } = state
    const webhook = webhookOf(state)
    const present = store.tables.client.newest('all', 'all')!.row
    adopt(() => {
      store.reset(store.empty)
      store.put('client', { ...present, ...profile })
      for (const name of TABLE_NAMES)
        for (const row of name === 'webhook' ? webhook : tables[name])
          store.put(name, row as Rows[typeof name])
      store.put('settings', { name: 'scenario', value: { ...scenario, startedAs: '' } as never })
      const { mode, speed } = clock
      const value = { mode, speed, anchor: Date.parse(clock.now), wallAnchor: 0, startedAs: '' }
      store.put('settings', { name: 'clock', value })
      store.random.counter = draws
    })
  }
}
