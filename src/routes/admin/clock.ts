import * as z from 'zod'
import { LATE_CALL } from '../../content/timer-payloads.ts'
import { adminCall } from '../../http/admin-call.ts'
import type { TimerRow } from '../../model/delivery.ts'
import { parseDuration } from '../../model/duration.ts'
import { callerGone, type ErrorCode, SandboxError } from '../../model/errors.ts'
import { isClockTime, isoOf, named, Timestamp } from '../../model/formats.ts'
import { maskValue, quoteInput } from '../../model/mask.ts'
import { SearchText } from '../../model/paging.ts'
import { Amount, rupeesOf } from '../../model/payment.ts'
import { searchTest } from '../../model/search.ts'
import { validationFailed } from '../../model/validation-errors.ts'
import type { AdvanceOptions, AdvanceResult } from '../../time/advance.ts'
import type { World } from '../../world/world.ts'

const Instant = z.iso.datetime({ offset: true })
const durationError = 'must be a duration such as "3m", "500ms", "2d" or "PT5S", at most 10 years'
export const AdvanceDuration = z
  .string({ error: durationError })
  .refine((text) => parseDuration(text) !== undefined, { error: durationError })

const ADVANCE_FORM =
  'must be an object such as {"by": "3m"} or {"to": "2026-01-02T00:00:00Z"}; a duration such as "3m" includes its unit'
export const ADVANCE_ERRORS: readonly ErrorCode[] = [
  'receiver_busy',
  'too_many_timers',
  'caller_gone',
]

export const ClockResponse = named('Clock', {
  now: Timestamp,
  mode: z.enum(['real', 'frozen']),
  speed: z.number(),
  next_timer_at: Timestamp.nullable(),
  pending_timers: z.int(),
})

const FiredTimer = z
  .looseObject({
    at: Timestamp,
    kind: z.string(),
    timer_id: z.string(),
    resource_id: z.string().optional(),
  })
  .meta({ id: 'FiredTimer' })
export const FiredResponse = named('FiredResponse', {
  now: Timestamp,
  fired: z.array(FiredTimer),
  left_out: z.int().optional().meta({
    description:
      'The number of timers that ran but are not in `fired`, which has the first 10,000.',
  }),
})
export const Timer = named('Timer', {
  timer_id: z.string(),
  at: Timestamp,
  kind: z.string(),
  resource_id: z.string().optional(),
  payload: z.record(z.string(), z.unknown()),
  amount: Amount.optional().describe('Of the payment that it is about.'),
  name: z.string().optional().describe('The receiver of the payment, or whose record it is.'),
})
const MAX_TIMERS = 10_000
const TimerCount = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_TIMERS, {
    error: `must be a whole number from 1 to ${MAX_TIMERS}`,
  })
  .transform(Number)
  .meta({ type: 'integer', minimum: 1, maximum: MAX_TIMERS })
export const Speed = z.number().gt(0).max(1_000_000)
const TimerPath = z.object({ id: z.string().min(1).max(64) })

/** Returns the instant (ms); throws `validation_failed` if its year is not from 1970 to 9999. */
export function requireClockTime(ms: number, field: string): number {
  if (isClockTime(ms)) return ms
  const message = `must not lead to a time ${ms < 0 ? 'before the year 1970' : 'after the year 9999'}`
  throw validationFailed([{ field, code: 'out_of_range', message }])
}

export function clockResponse({ clock }: World): z.input<typeof ClockResponse> {
  const { mode, speed } = clock.state
  const next = clock.timers.next()
  return {
    now: clock.iso(),
    mode,
    speed,
    next_timer_at: next ? isoOf(next.due_at) : null,
    pending_timers: clock.timers.countPending(),
  }
}

export const timerResponse = ({ timer_id, due_at, kind, resource_id, payload }: TimerRow) => ({
  timer_id,
  at: isoOf(due_at),
  kind,
  ...(resource_id !== undefined && { resource_id }),
  // The body of a call that runs later has numbers of people.
  payload: kind === LATE_CALL ? (maskValue(payload) as typeof payload) : payload,
})

/** What people call that which a timer is about. */
function aboutOf({ tables: { tables } }: World, { resource_id: id = '' }: TimerRow) {
  const of = tables.deliveries.get(id)?.resource_id ?? id
  const payment = tables.payments.get(of)
  const record = tables.bank_accounts.get(of)
  const name = (payment ?? record)?.account_name ?? tables.kyc.get(of)?.full_name
  return { ...(payment && { amount: rupeesOf(payment.paise) }), ...(name && { name }) }
}

const textOfTimer = ({ timer_id, kind, resource_id, payload }: TimerRow): string =>
  [timer_id, kind, resource_id, JSON.stringify(payload)].join(' ')

async function advanceWith(
  world: World,
  signal: AbortSignal,
  move: (options: AdvanceOptions) => Promise<AdvanceResult>,
) {
  const saveClock = () => world.clock.change(() => {})
  const { now, fired, omitted } = await move({ persist: saveClock, signal })
  if (signal.aborted) throw callerGone()
  return { now, fired, ...(omitted > 0 && { left_out: omitted }) }
}

function findTimer({ clock }: World, id: string) {
  const timer = clock.timers.get(id)
  if (!timer)
    throw new SandboxError(
      'not_found',
      `This client has no pending timer ${quoteInput(id)}. List them with GET /__admin/timers.`,
    )
  return timer
}

export const clockCalls = [
  adminCall({
    id: 'getClock',
    summary: 'Read the clock',
    response: ClockResponse,
    handle: clockResponse,
  }),
  adminCall({
    id: 'freezeClock',
    summary: "Freeze the clock, now or at an instant, and run what's due",
    body: z.strictObject({ at: Instant.optional() }).default({}),
    response: ClockResponse,
    errors: ADVANCE_ERRORS,
    async handle(world, { body, hangUpSignal }) {
      const at =
        body.at === undefined ? world.clock.now() : requireClockTime(Date.parse(body.at), 'at')
      // If the advance ends early, the clock stops at the time that it has reached.
      const freeze = (isComplete: boolean) =>
        world.clock.change(() => world.clock.freeze(isComplete ? at : world.clock.now()))
      if (at > world.clock.now())
        await world.clock.timers.advanceTo(at, { persist: freeze, signal: hangUpSignal() })
      else freeze(true)
      return clockResponse(world)
    },
  }),
  adminCall({
    id: 'resumeClock',
    summary: 'Let a frozen clock run again',
    response: ClockResponse,
    handle(world) {
      world.clock.change(() => world.clock.resume())
      return clockResponse(world)
    },
  }),
  adminCall({
    id: 'setClockSpeed',
    summary: "Set the clock's speed and resume it",
    body: z.strictObject({ factor: Speed }),
    response: ClockResponse,
    handle(world, { body }) {
      world.clock.change(() => world.clock.speed(body.factor))
      return clockResponse(world)
    },
  }),
  adminCall({
    id: 'advanceClock',
    summary: "Advance the clock by a duration or to an instant, and run what's due",
    body: z
      .strictObject(
        { by: AdvanceDuration.optional(), to: Instant.optional() },
        { error: ({ code }) => (code === 'invalid_type' ? ADVANCE_FORM : undefined) },
      )
      .refine(({ by, to }) => (by === undefined) !== (to === undefined), {
        error: 'must have exactly one of "by" and "to"',
        params: { code: 'required' },
      }),
    response: FiredResponse,
    errors: ['clock_cannot_go_back', ...ADVANCE_ERRORS],
    handle(world, { body: { by, to }, hangUpSignal }) {
      const { timers } = world.clock
      if (by !== undefined) {
        const span = parseDuration(by)!
        requireClockTime(world.clock.now() + span, 'by')
        return advanceWith(world, hangUpSignal(), (options) => timers.advanceBy(span, options))
      }
      const target = requireClockTime(Date.parse(to!), 'to')
      if (target < world.clock.now())
        throw new SandboxError(
          'clock_cannot_go_back',
          `The clock is at ${world.clock.iso()}, later than ${isoOf(target)}. Set an earlier time with POST /__admin/clock/freeze {"at"}.`,
        )
      return advanceWith(world, hangUpSignal(), (options) => timers.advanceTo(target, options))
    },
  }),
  adminCall({
    id: 'advanceClockToNext',
    summary: 'Advance to the next timer and run it',
    response: FiredResponse,
    errors: ADVANCE_ERRORS,
    handle: (world, { hangUpSignal }) =>
      advanceWith(world, hangUpSignal(), world.clock.timers.advanceToNext),
  }),
  adminCall({
    id: 'listTimers',
    summary: 'List the pending timers, soonest first; search',
    response: named('TimersResponse', { timers: z.array(Timer) }),
    query: z.object({ limit: TimerCount.optional(), search: SearchText }),
    handle(world, { query: { limit, search } }) {
      const test = searchTest(search)
      const found = world.clock.timers.pending().filter((one) => test?.(textOfTimer(one)) ?? true)
      const shown = found.slice(0, limit)
      return { timers: shown.map((one) => ({ ...timerResponse(one), ...aboutOf(world, one) })) }
    },
  }),
  adminCall({
    id: 'deleteTimer',
    summary: 'Cancel a timer',
    params: TimerPath,
    response: named('DeletedTimerResponse', { deleted: z.string() }),
    handle(world, { params }) {
      const timer = findTimer(world, params.id)
      world.tables.change(() => {
        world.clock.timers.cancel(timer.timer_id)
        world.webhooks.deliveries.handleCancelled(timer)
      })
      return { deleted: timer.timer_id }
    },
  }),
  adminCall({
    id: 'fireTimer',
    summary: 'Run a timer now',
    params: TimerPath,
    response: FiredResponse,
    async handle(world, { params }) {
      const fired = await world.clock.timers.fire(findTimer(world, params.id))
      world.scenarios.timeline.runDueEntries()
      return { now: world.clock.iso(), fired }
    },
  }),
]
