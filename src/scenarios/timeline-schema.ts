import * as z from 'zod'
import { parseDuration } from '../model/duration.ts'
import { KycStatus } from '../model/kyc.ts'
import { laterStatuses, MIN_PAISE, PaymentStatus, paiseOf } from '../model/payment.ts'
import { oneOf, quoteValue } from '../model/words.ts'
import { Reason, TransactionLifecycle } from './lifecycle-schema.ts'
import {
  EVENTS,
  MAX_CREATED_USERS,
  MAX_TIMES,
  MIN_REPEAT_MS,
  OPERATIONS,
} from './operations-and-events.ts'
import { Rule } from './rule-schema.ts'
import {
  AnyJson,
  type Check,
  crossCheck,
  Duration,
  Instant,
  type Mapping,
  mustBe,
  ScenarioName,
  suchAs,
  text,
} from './schema-parts.ts'

const Uuid = z
  .string()
  .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, { error: mustBe('a UUID') })
const Resource = z
  .string()
  .regex(/^(?:latest|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i, {
    error: mustBe('latest or a UUID'),
  })
  .describe('latest (the newest resource), or the id of a resource.')

const wrongAmount = mustBe('rupees such as "2500.00", from 1.00 to 9999999999.99')

const Amount = z
  .union(
    [
      // The pattern is for editors only; `refine` below checks the value.
      z.string().meta({ pattern: '^\\d{1,10}(\\.\\d{1,2})?$' }),
      z.number().meta({ minimum: 1, maximum: 9_999_999_999.99 }),
    ],
    { error: wrongAmount },
  )
  .refine((amount) => (paiseOf(amount) ?? 0) >= MIN_PAISE, { error: wrongAmount })
  .describe('Rupees, 1.00 to 9999999999.99, at most two decimals.')

const SimulateFields = z.strictObject({
  transaction: Resource.optional(),
  kyc: Resource.optional(),
  bank: Resource.optional(),
  status: z.union([PaymentStatus, KycStatus], {
    error: mustBe('a status such as SUCCESS or failed'),
  }),
  reason: Reason.optional(),
})

const RESOURCE_NAMES = { transaction: 'transaction', kyc: 'KYC record', bank: 'bank account' }

const Simulate = SimulateFields.check(
  crossCheck<z.output<typeof SimulateFields>>((simulate, { report, isValid }) => {
    if (!isValid()) return
    const { status, reason, ...which } = simulate
    const [kind, ...others] = Object.keys(which) as (keyof typeof which)[]
    if (kind === undefined || others.length > 0) {
      const message =
        '`simulate` changes one resource; write exactly one of transaction, kyc or bank, with latest or an id'
      report([], message)
      return
    }
    const states = laterStatuses(kind)
    if (!states.includes(status)) {
      const message = `a ${RESOURCE_NAMES[kind]} can change to ${oneOf(states)}, not to ${status}`
      report(['status'], message)
    }
    if (reason !== undefined && status.toUpperCase() !== 'FAILED') {
      const message = `\`reason\` needs the status FAILED, and the status is ${status}; remove it`
      report(['reason'], message, 'key')
    }
  }),
)

const TimelinePayment = z.strictObject({
  amount: Amount,
  to_user_id: Uuid.optional().describe(
    'The receiver. If it is missing, the sandbox chooses a user with a verified account.',
  ),
  from_user_id: Uuid.optional(),
  benif_bank_id: Uuid.optional(),
  reference_id: text(100).optional(),
  remark: text(50).optional(),
  transaction: TransactionLifecycle.optional().describe(
    'The steps of the payment; the default steps if it is missing.',
  ),
})

/** The fields that are no actions, but belong to one. */
const ACTION_OF: Record<string, string> = { resource: 'trigger', params: 'call', body: 'call' }

function checkAction(action: Mapping, { report, isValid }: Check) {
  if (!isValid()) return
  const actions = Object.keys(Do.shape).filter((word) => !Object.hasOwn(ACTION_OF, word))
  const named = actions.filter((word) => action[word] !== undefined)
  if (named.length !== 1) {
    const what = named.length === 0 ? 'no action' : `${named.length} actions (${named.join(', ')})`
    report([], `${what}; \`do\` takes exactly one of ${oneOf(actions)}`)
  }
  for (const [field, word] of Object.entries(ACTION_OF))
    if (action[field] !== undefined && action[word] === undefined)
      report([field], `\`${field}\` has no effect without \`${word}\`; remove it`, 'key')
}

const Do = z
  .strictObject(
    {
      call: z
        .optional(z.enum(OPERATIONS))
        .describe('Calls the service as an app does; the sandbox fills in what is left out.'),
      params: z.record(z.string(), z.string()).optional().describe('Path parameters of `call`.'),
      body: z.record(z.string(), AnyJson).optional().describe('Fields of the body of `call`.'),
      trigger: z.enum(EVENTS).optional().describe('Fires an event now.'),
      resource: Resource.optional().describe(
        'The resource of `trigger`: latest (default) or an id.',
      ),
      simulate: Simulate.optional().describe('Changes the status of one resource.'),
      credit: TimelinePayment.optional().describe('Creates an incoming payment.'),
      payout: TimelinePayment.optional().describe(
        'Creates an outgoing payment. The rules for calls do not decide about it.',
      ),
      create_users: z
        .optional(z.int().min(1).max(MAX_CREATED_USERS))
        .describe('Creates this number of users.'),
      set_webhook: z
        .optional(z.literal('inbox'))
        .describe('Makes the built-in inbox the receiver of the events, if there is no webhook.'),
      use: ScenarioName.optional().describe('Activates another scenario.'),
      rule: Rule.optional().describe(
        "Pushes a rule that takes precedence over the scenario's rules.",
      ),
      reset: z
        .optional(z.literal(true))
        .describe('Resets the world to the fixtures and the start scenario.'),
    },
    { error: suchAs('do: { use: provider-outage }', 'specify the action') },
  )
  .check(crossCheck(checkAction))
  .meta({ id: 'Action' })

const EntryFields = z.strictObject({
  at: Instant.optional().describe(
    'The instant on the clock of the client, instead of `after`; immediately if it has passed.',
  ),
  after: Duration.optional().describe(
    'The time since the activation of the scenario; immediately if it is missing.',
  ),
  every: Duration.optional().describe('Repeats the action at this interval.'),
  times: z
    .optional(z.int().min(1).max(MAX_TIMES))
    .describe('The total number of runs; repeats forever if it is missing.'),
  do: Do,
})
export type ActionDefinition = z.infer<typeof Do>
export type TimelineDefinition = z.infer<typeof EntryFields>

const msOf = (duration: string | undefined) =>
  duration === undefined ? 0 : parseDuration(duration)!

function checkEntry(entry: Partial<TimelineDefinition>, { report, isValid }: Check) {
  const { at, after, every, times, do: action } = entry
  if (at !== undefined && after !== undefined)
    report(['after'], '`at` and `after` both say when; remove one', 'key')
  if (every !== undefined && isValid('every') && msOf(every) < MIN_REPEAT_MS) {
    report(['every'], `\`every\` must be at least ${MIN_REPEAT_MS}ms, not ${quoteValue(every)}`)
  }
  if (times !== undefined && isValid('times') && times > 1 && every === undefined)
    report(['times'], '`times` needs `every`: the time between two runs')
  if (action === undefined || !isValid('do')) return
  const last = (['use', 'reset'] as const).find((word) => action[word] !== undefined)
  if (last && every !== undefined) {
    const message = `\`${last}\` ends this timeline, so \`every\` has no effect; remove it`
    report(['every'], message, 'key')
  }
  if (last === 'reset' && at !== undefined)
    report(
      ['at'],
      'after a reset, an instant that has passed would come again and again; write `after`',
      'key',
    )
  else if (last === 'reset' && isValid('after') && msOf(after) < MIN_REPEAT_MS) {
    const message = `an immediate reset would undo the activation, and would repeat forever in the start scenario; give the entry an \`after\` of at least ${MIN_REPEAT_MS}ms`
    report(['do', 'reset'], message, 'key')
  }
}

export const TimelineEntry = EntryFields.check(crossCheck<TimelineDefinition>(checkEntry)).meta({
  id: 'TimelineEntry',
})
