import * as z from 'zod'
import { didYouMean, oneOf, quoteValue } from '../model/words.ts'
import { BankLifecycle, KycLifecycle, TransactionLifecycle } from './lifecycle-schema.ts'
import { EVENTS, FAULTS } from './operations-and-events.ts'
import { AnyJson, type Check, crossCheck, Delay, Duration, mustBe, suchAs } from './schema-parts.ts'

/** All header names except those that frame the response: the server sets those itself. */
const ALLOWED_HEADER =
  /^(?!(?:content-length|transfer-encoding|connection|keep-alive|upgrade|trailer)$)[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/i

const Respond = z
  .strictObject(
    {
      status: z.int().min(200).max(599),
      body: AnyJson.optional().describe(
        'Sent as JSON. If it is missing, the response is the error envelope of the status.',
      ),
      headers: z
        .record(
          z.string().regex(ALLOWED_HEADER, {
            error: ({ input }) =>
              `${quoteValue(input)} is not a header that a scenario can set; the server sets it itself`,
          }),
          z
            .string()
            .max(1_024)
            .regex(/^[\t\x20-\x7e]*$/, { error: 'must be one line of printable ASCII' }),
        )
        .optional(),
    },
    { error: suchAs('respond: { status: 503 }') },
  )
  .meta({
    id: 'Respond',
    description: 'Sends this response. The operation runs only with at: after or an effect.',
  })

const fields = {
  kyc: KycLifecycle.optional().describe('The lifecycle of the KYC item, as a list of steps.'),
  bank: BankLifecycle.optional().describe('The lifecycle of the bank account, as a list of steps.'),
  transaction: TransactionLifecycle.optional().describe(
    'The lifecycle of the payment, as a list of steps.',
  ),
  respond: Respond.optional(),
  delay: Delay.optional(),
  fault: z.enum(FAULTS).optional().describe('How the response is broken.'),
  at: z
    .optional(z.enum(['before', 'after']))
    .describe(
      'Whether the operation does not run (before; default), or runs before the response or the fault, or before a delay that is alone.',
    ),
  effect: z
    .optional(z.literal('after_timeout'))
    .describe('The operation runs although its caller got no response, or that of respond.'),
  after: Duration.optional().describe('How long after the response the effect comes: at once.'),
  visible_after: Duration.optional().describe(
    'What the call creates is missing from reads and lists for this time.',
  ),
}

export const LIFECYCLES = ['kyc', 'bank', 'transaction'] as const
const CREATED = [...LIFECYCLES, 'visible_after'] as const

function checkOutcome(outcome: OutcomeDefinition, report: Check['report']) {
  const { respond, fault, delay, at, effect, after } = outcome
  const reject = (key: string, message: string) => report([key], message, 'key')
  const created = CREATED.find((kind) => outcome[kind] !== undefined)
  const isLost = respond !== undefined || fault !== undefined
  if (effect && !isLost)
    reject('effect', '`effect` is beside a `fault` or `respond`; add one, or remove `effect`')
  if (at && !isLost && !(at === 'after' && delay !== undefined)) {
    const beside = at === 'after' ? 'a `fault`, `respond` or `delay`' : 'a `fault` or `respond`'
    reject('at', `\`at\` is beside ${beside}; add one, or remove \`at\``)
  }
  if (effect && at) reject('at', '`effect` and `at` both say when the operation runs; remove one')
  if (after !== undefined && !effect)
    reject('after', '`after` says when the effect comes; add effect: after_timeout, or remove it')
  if (respond && fault && !['malformed', 'truncate'].includes(fault)) {
    const message = `the fault \`${fault}\` sends no response, so \`respond\` has no effect; remove one`
    reject('fault', message)
  }
  if (isLost && created && at !== 'after' && !effect) {
    const what = respond ? '`respond` replaces' : 'the fault happens before'
    const message = `${what} the operation, so no \`${created}\` is created; add at: after, or remove one`
    reject(created, message)
  }
}

const checkFields = (outcome: OutcomeDefinition, { report, isValid, isEmpty }: Check) => {
  if (!isValid()) return
  const words = 'kyc, bank, transaction, respond, delay, fault or visible_after'
  if (isEmpty) report([], `an empty outcome; write ${words}`)
  checkOutcome(outcome, report)
}

export const Outcome = z
  .strictObject(fields, { error: suchAs('{ fault: hang }') })
  .check(crossCheck(checkFields))
  .meta({ id: 'Outcome', description: 'What happens to a call.' })
export type OutcomeDefinition = z.infer<z.ZodObject<typeof fields, z.core.$strict>>

const Pass = z.literal('pass', {
  error: ({ input }) =>
    didYouMean(String(input), ['pass']) === ''
      ? mustBe('pass or a mapping such as { fault: hang }')({ input })
      : undefined,
})

/** The outcomes of a rule in order, instead of a single one. */
export const sequenceFields = {
  sequence: z
    .optional(
      z
        .array(z.union([Pass, Outcome]))
        .min(1)
        .max(100),
    )
    .describe('One outcome for each matching call, in order. pass: the rule ignores that call.'),
  then_on: z
    .optional(z.enum(['last', 'loop', 'pass']))
    .describe(
      'What the rule does after the last outcome: last = repeat it (default), loop = start again, pass = ignore further calls.',
    ),
}

export const THEN_ON_ALONE =
  '`then_on` applies after a `sequence`, and this rule has none; remove it or add a `sequence`'

export const Then = z
  .strictObject({ ...fields, ...sequenceFields }, { error: suchAs('then: { fault: hang }') })
  .check(
    crossCheck((then, check) => {
      const { sequence, then_on: thenOn, ...outcome } = then
      if (sequence === undefined) {
        checkFields(outcome, check)
        if (thenOn !== undefined) check.report(['then_on'], THEN_ON_ALONE, 'key')
      } else {
        for (const key of Object.keys(outcome)) {
          const message = `\`${key}\` cannot be beside a \`sequence\`; move it into the outcomes of the sequence`
          check.report([key], message, 'key')
        }
      }
    }),
  )

export const WebhookOutcome = z
  .strictObject(
    {
      delay: Delay.optional(),
      copies: z
        .optional(z.union([z.int().min(1).max(100), z.array(Delay).min(1).max(100)]))
        .describe('How often the event is sent in total, or a list with the delay of each copy.'),
      together: z
        .optional(z.literal(true))
        .describe('The event is sent at the same instant as the next one of its resource.'),
      drop: z.literal(true).optional().describe('The event is never sent.'),
      hold_until: z
        .optional(z.enum(EVENTS))
        .describe(
          'Sends this event only after the named event of the same resource, which normally comes later.',
        ),
      signature: z
        .optional(z.enum(['wrong', 'missing', 'rotated']))
        .describe('rotated: one with a new secret first, then the right one.'),
      timestamp: z
        .optional(z.literal('stale'))
        .describe('The event is signed with a timestamp far in the past.'),
      body: z.literal('truncated').optional().describe('The body is truncated after it is signed.'),
      lost_attempts: z
        .optional(z.int().min(1).max(10))
        .describe('The first attempts, this number of them, are lost on the way; then it is sent.'),
    },
    { error: suchAs('then: { copies: 2 }', 'specify the outcome') },
  )
  .check(
    crossCheck((then, { report, isValid, isEmpty }) => {
      if (!isValid()) return
      const { drop, ...others } = then
      if (Array.isArray(then.copies) && then.delay !== undefined)
        report(['delay'], '`copies` has the delay of each copy; remove `delay`', 'key')
      for (const key of ['hold_until', 'delay', 'copies'] as const)
        if (then.together && then[key] !== undefined)
          report(['together'], `\`together\` and \`${key}\` both say when; remove one`, 'key')
      const names = Object.keys(others)
      if (isEmpty) {
        const words =
          'delay, copies, drop, hold_until, together, signature, timestamp, body or lost_attempts'
        report([], `an empty outcome; write ${words}`)
      }
      if (!drop || names.length === 0) return
      const message = `a dropped event is not sent, so ${oneOf(names.map((key) => `\`${key}\``))} has no effect; remove \`drop\` or the others`
      report(['drop'], message, 'key')
    }),
  )
