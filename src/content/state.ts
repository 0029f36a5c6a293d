import * as z from 'zod'
import { type Scenarios, TIMELINE_ENTRY } from '../active-scenario/world-scenarios.ts'
import { AccountNumber, BankAccountRow, IfscCode } from '../model/bank-account.ts'
import { ClientRow } from '../model/client.ts'
import { Delivery, DeliveryStatus } from '../model/delivery.ts'
import { type FieldError, SandboxError } from '../model/errors.ts'
import { inOrderOf } from '../model/field-order.ts'
import { isClockTime, LAST_INSTANT, Timestamp } from '../model/formats.ts'
import { InboxRow } from '../model/inbox.ts'
import { KycRow } from '../model/kyc.ts'
import { MAX_PAISE } from '../model/money.ts'
import { PaymentRow } from '../model/payment.ts'
import { CreateUser, UserRow } from '../model/user.ts'
import { validationFailed } from '../model/validation-errors.ts'
import { CreateWebhook, WebhookRow } from '../model/webhook.ts'
import { isHeapFull } from '../runtime/heap-limits.ts'
import type { Random } from '../runtime/random.ts'
import { inSlices } from '../runtime/slices.ts'
import { ignoreErrors } from '../storage/files.ts'
import { rowsOf as rowsIn, sizeOf as sizeOfLayers } from '../storage/layers.ts'
import type { Images, Snapshot } from '../storage/world-tables.ts'
import { type Rows, type SandboxTables, TABLES } from '../tables/tables.ts'
import type { WorldContext } from '../tables/world-context.ts'
import type { ClockState } from '../time/clock.ts'
import { lowestDraws } from './state-draws.ts'
import { readState } from './state-reader.ts'
import { checkTimer } from './timer-payloads.ts'

/** The tables that a state document has as rows; the client and the settings have their own fields in it. */
type TableName = Exclude<keyof Rows, 'client' | 'settings'>

const Integer = z.int()
const ROWS = {
  users: UserRow.extend({
    email: z.email().max(254),
    mobile: CreateUser.shape.mobile,
  }),
  kyc: KycRow,
  bank_accounts: BankAccountRow.extend({ account_number: AccountNumber, ifsc_code: IfscCode }),
  payments: PaymentRow.extend({ paise: Integer.min(0).max(MAX_PAISE) }),
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
    copies: Integer,
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
    next_attempt_at: Integer.nullable(),
    timer_id: z.string().nullable(),
    attempts: z.array(
      Delivery.shape.attempts.element
        .omit({ headers: true })
        .extend({ timestamp: Integer, signatures: Integer }),
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
    status: Integer,
    body: z.string(),
    expires_at: Integer,
  }),
  timers: z
    .strictObject({
      timer_id: z.string(),
      due_at: Integer.min(0).max(LAST_INSTANT),
      seq: Integer,
      kind: z.string(),
      resource_id: z.string().optional(),
      payload: z.record(z.string(), z.unknown()),
    })
    .superRefine(checkTimer),
  rules: z.strictObject({ rule_id: z.string(), seq: Integer, definition: z.looseObject({}) }),
  counters: z.strictObject({ name: z.string(), matched: Integer, hits: Integer }),
} satisfies Record<TableName, z.ZodType>
const TABLE_NAMES = Object.keys(ROWS) as TableName[]

// The counter of the random series must stay exact: near 2^53, adding 1 has no effect. The numbers above this limit are
// never used up.
const MAX_DRAWS = 2 ** 48

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
    /** The position in the random series. */
    draws: Integer.min(0).max(MAX_DRAWS),
    profile: Profile,
    tables: z.strictObject(
      Object.fromEntries(TABLE_NAMES.map((name) => [name, z.array(ROWS[name])])) as {
        [K in TableName]: z.ZodArray<(typeof ROWS)[K]>
      },
    ),
  })
  .meta({ id: 'State' })
export type StateDocument = z.infer<typeof StateDocument>

const MAX_ERRORS = 20

/** The ids of a table's rows. */
function* idsOf<R>(rows: readonly R[], idOf: (row: R) => string) {
  const ids = new Set<string>()
  for (const row of rows) {
    ids.add(idOf(row))
    yield
  }
  return ids
}

/**
 * The errors that zod cannot find: duplicate rows and missing references. The caller can pause at each `yield`.
 */
function* relationErrors({ tables, draws }: StateDocument): Generator<undefined, FieldError[]> {
  const errors: FieldError[] = []
  const addError = (field: string, message: string) => {
    if (errors.length < MAX_ERRORS) errors.push({ field, code: 'invalid_value', message })
  }
  for (const name of TABLE_NAMES) {
    const spec = TABLES[name] as (typeof TABLES)['users']
    const rows = tables[name] as Rows['users'][]
    const keys = { id: spec.id, ...(spec.uniques as object) } as Record<string, typeof spec.id>
    for (const [key, keyOf] of Object.entries(keys)) {
      const seen = new Set<string>()
      for (const [i, row] of rows.entries()) {
        yield
        const value = keyOf(row)
        if (value === undefined) continue
        if (seen.has(value))
          addError(`tables.${name}[${i}]`, `has the same ${key} as an earlier row`)
        seen.add(value)
      }
    }
  }
  if (tables.webhook.length > 1) addError('tables.webhook', 'must have at most 1 row')
  if (tables.rules.length > MAX_RULES)
    addError('tables.rules', `must have at most ${MAX_RULES} rows`)
  const users = yield* idsOf(tables.users, TABLES.users.id)
  const accounts = yield* idsOf(tables.bank_accounts, TABLES.bank_accounts.id)
  const checkReference = (place: string, known: Set<string>, id: string) => {
    if (!known.has(id)) addError(place, 'refers to a row that is not in this state')
  }
  for (const name of ['kyc', 'bank_accounts'] as const)
    for (const [i, row] of tables[name].entries()) {
      yield
      checkReference(`tables.${name}[${i}].user_id`, users, row.user_id)
    }
  const utrs = new Set<string>()
  for (const [i, row] of tables.payments.entries()) {
    yield
    checkReference(`tables.payments[${i}].from_user_id`, users, row.from_user_id)
    checkReference(`tables.payments[${i}].to_user_id`, users, row.to_user_id)
    checkReference(`tables.payments[${i}].benif_bank_id`, accounts, row.benif_bank_id)
    if (row.from_user_id === row.to_user_id)
      addError(`tables.payments[${i}].to_user_id`, 'must not be the payer')
    const { status, utr } = row
    if (status === 'SUCCESS' && utr === null)
      addError(`tables.payments[${i}].utr`, 'is required for status SUCCESS')
    // A reversed payment retains the number of its SUCCESS.
    if ((status === 'PENDING' || status === 'PROCESSING') && utr !== null)
      addError(`tables.payments[${i}].utr`, `must be null while the status is ${status}`)
    if (utr !== null && utrs.has(utr))
      addError(`tables.payments[${i}].utr`, 'is the same as in an earlier row')
    if (utr !== null) utrs.add(utr)
  }
  const events = yield* idsOf(tables.events, TABLES.events.id)
  for (const [i, row] of tables.deliveries.entries()) {
    yield
    checkReference(`tables.deliveries[${i}].event_id`, events, row.event_id)
  }
  // The number of a rule can be greater: rules survive a reset of the data, which restarts the series.
  for (const [i, { seq }] of tables.timers.entries())
    if (seq > draws) addError(`tables.timers[${i}].seq`, 'must not be greater than draws')
  return errors
}

/** An error if `draws` is too small: the series would generate the id of an existing row again. */
function* drawErrors(
  { tables, draws }: StateDocument,
  random: Random,
): Generator<undefined, FieldError[]> {
  const { least, place } = yield* lowestDraws(tables, draws, random)
  if (draws >= least) return []
  const message = `must be at least ${least}, because the random series of this client has already generated ${place}; found ${draws}`
  return [{ field: 'draws', code: 'too_small', message }]
}

/** Throws the error of the first timeline entry with an unknown scenario or an invalid rule. */
function* timelineErrors(
  scenarios: Scenarios,
  timers: StateDocument['tables']['timers'],
  checkRule: (rule: unknown) => unknown,
) {
  for (const { kind, payload } of timers) {
    if (kind === TIMELINE_ENTRY) {
      const { use, rule } = payload['do'] as { use?: string; rule?: object }
      if (use !== undefined) scenarios.checkName(use)
      if (rule !== undefined) checkRule(rule)
    }
    yield
  }
}

/** Throws the error of the first invalid rule. */
function* ruleErrors(check: (rule: unknown) => unknown, rules: StateDocument['tables']['rules']) {
  for (const { definition } of rules) {
    check(definition)
    yield
  }
}

/** Throws `payload_too_large` if the heap is almost full. */
function rejectIfHeapFull() {
  if (!isHeapFull()) return
  throw new SandboxError(
    'payload_too_large',
    'The state was rejected because too little memory is left for it. Nothing was changed. Send a smaller state, delete clients, or start the sandbox with a larger heap (NODE_OPTIONS=--max-old-space-size=MB).',
  )
}

// A state with fewer rows is sent in one piece.
const FEW_ROWS = 2_000
// Rows that are stored by one change.
const ROWS_PER_CHANGE = 100
// Every call checks all rules, and they are compiled without a pause.
const MAX_RULES = 10_000

/** The JSON text of a state, in pieces; call `done` after sending. */
export type StateText = { pieces: Iterable<string>; isLarge: boolean; done: () => void }

export type StateDeps = WorldContext & {
  scenarios: Scenarios
  clockNow: () => ClockState
  adopt: (load: () => void) => void
  /** Creates an empty hidden world, to collect rows in. */
  stage: () => SandboxTables
  /** Whether long work yields to other calls. */
  pauses: boolean
}

const orderFields = Object.fromEntries(
  TABLE_NAMES.map((name) => [name, inOrderOf(ROWS[name])]),
) as Record<TableName, (row: object) => object>
const orderProfileFields = inOrderOf(Profile)

type RowsOf = <K extends keyof Rows>(table: K) => Iterable<Rows[K]>

/** Exports and imports the whole state of a client. */
export function createState(deps: StateDeps) {
  const { store, scenarios, scheduler, random, clockNow, adopt, stage, pauses } = deps
  // Secrets of exported webhooks, by id: an import into the same client needs no secret.
  const secrets = new Map<string, string>()

  /** The rows of a table as they are in a document. */
  function* exportRows<K extends TableName>(name: K, rowsOf: RowsOf): Generator<object> {
    for (const row of rowsOf(name)) {
      if (name !== 'webhook') {
        yield orderFields[name](row)
        continue
      }
      const { webhook_secret, ...shown } = row as Rows['webhook']
      secrets.set(shown.webhook_id, webhook_secret!)
      yield orderFields.webhook(shown)
    }
  }

  /** The JSON text of a document, in pieces of one row. */
  function* textOf(rowsOf: RowsOf, clock: ClockState, draws: number): Generator<string> {
    const [client] = rowsOf('client')
    const settings = [...rowsOf('settings')]
    const { name, definition } = settings.find((row) => row.name === 'scenario')!.value as {
      name: string
      definition?: object
    }
    const { mode, speed, anchor } = clock
    const head = {
      format: 1,
      clock: { now: new Date(anchor).toISOString(), mode, speed },
      scenario: { name, ...(definition && { definition }) },
      draws,
      profile: orderProfileFields(client!),
    }
    yield `${JSON.stringify(head).slice(0, -1)},"tables":{`
    for (const [i, table] of TABLE_NAMES.entries()) {
      yield `${i === 0 ? '' : ','}"${table}":[`
      let comma = ''
      for (const row of exportRows(table, rowsOf)) {
        yield comma + JSON.stringify(row)
        comma = ','
      }
      yield ']'
    }
    yield '}}'
  }

  function sizeOf(images: Images<Rows>): number {
    let rows = 0
    for (const name of TABLE_NAMES) rows += sizeOfLayers(images[name].layers)
    return rows
  }

  /** A state as text; a large one is protected from changes until it is sent. */
  function textOfState(state: Pick<Snapshot<Rows>, 'images' | 'counter'>, snapshot?: string) {
    const isLarge = pauses && sizeOf(state.images) > FEW_ROWS
    const retained = isLarge ? store.pin(snapshot) : undefined
    const { images, counter } = retained ?? state
    const rowsOf: RowsOf = (table) => rowsIn(images[table].layers)
    const clockThen = () => [...rowsOf('settings')].find((row) => row.name === 'clock')!.value
    const clock = snapshot === undefined ? clockNow() : (clockThen() as ClockState)
    return { pieces: textOf(rowsOf, clock, counter), isLarge, done: () => retained?.release() }
  }

  /** The webhook with its secret: from the document, else of the present webhook, else of an earlier export. */
  function webhookOf({ tables }: StateDocument): WebhookRow[] {
    const present = store.tables.webhook.newest('all', 'all')?.row.webhook_secret
    return tables.webhook.map((row, i) => {
      const webhook_secret = row.webhook_secret ?? present ?? secrets.get(row.webhook_id)
      if (webhook_secret !== undefined) return { ...row, webhook_secret }
      const message =
        'is required: an exported state does not contain it, and this client has no webhook whose secret could be used'
      throw validationFailed([
        { field: `tables.webhook[${i}].webhook_secret`, code: 'required', message },
      ])
    })
  }

  const inPausingSlices = <T>(work: Generator<unknown, T>) =>
    inSlices(work, { pauses, check: rejectIfHeapFull })

  /** Throws the errors of a document, before anything is changed. */
  async function check(state: StateDocument) {
    const errors = await inPausingSlices(relationErrors(state))
    if (errors.length === 0) errors.push(...(await inPausingSlices(drawErrors(state, random))))
    if (errors.length > 0) throw validationFailed(errors)
    webhookOf(state)
    const { scenario, tables } = state
    if (scenario.definition) await scenarios.check(scenario.definition)
    else scenarios.checkName(scenario.name)
    await inPausingSlices(ruleErrors(await scenarios.createRuleCheck(), tables.rules))
    await inPausingSlices(
      timelineErrors(scenarios, tables.timers, await scenarios.createRuleCheck()),
    )
  }

  /** Stores the rows of a document in the staging world. */
  function* gather(staged: SandboxTables, { tables }: StateDocument) {
    for (const name of TABLE_NAMES) {
      const rows = name === 'webhook' ? [] : tables[name]
      for (let i = 0; i < rows.length; i += ROWS_PER_CHANGE) {
        staged.change(() => {
          for (const row of rows.slice(i, i + ROWS_PER_CHANGE)) staged.put(name, row as never)
        })
        yield
      }
    }
  }

  /** Replaces the client's state by the staged rows, as one change. */
  function replaceBy(staged: SandboxTables, state: StateDocument) {
    const { clock, scenario, draws, profile } = state
    const webhook = webhookOf(state)
    adopt(() => {
      const present = store.tables.client.newest('all', 'all')!.row
      store.take(staged)
      staged.drop()
      store.put('client', { ...present, ...profile })
      for (const row of webhook) store.put('webhook', row)
      store.put('settings', { name: 'scenario', value: { ...scenario, startedAs: '' } as never })
      const { mode, speed } = clock
      const value = { mode, speed, anchor: Date.parse(clock.now), wallAnchor: 0, startedAs: '' }
      store.put('settings', { name: 'clock', value })
      store.random.counter = draws
    })
  }

  return {
    /** The present state. */
    export: (): StateText => textOfState({ images: store.view(), counter: store.random.counter }),
    /** The state of a snapshot. */
    exportSnapshot: (name: string): StateText => textOfState(store.snapshots.get(name)!, name),
    /**
     * Reads and checks a document and replaces the client's state by it. Other calls can run in between, but the
     * replacement itself is one change. Returns the number of rows of each table.
     */
    async replace(sent: unknown): Promise<Record<string, number>> {
      const state = await inPausingSlices(readState(sent, StateDocument, ROWS))
      await check(state)
      const staged = stage()
      let isTaken = false
      try {
        await inPausingSlices(gather(staged, state))
        await scheduler.whenIdle(() => replaceBy(staged, state))
        isTaken = true
      } finally {
        if (!isTaken) ignoreErrors(() => staged.drop())
      }
      return Object.fromEntries(
        Object.entries(state.tables).map(([table, { length }]) => [table, length]),
      )
    },
  }
}
