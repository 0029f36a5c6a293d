import * as z from 'zod'
import type { Advanced, AdvanceOptions } from '../../core/advance.ts'
import { parseDuration } from '../../core/duration.ts'
import type { TimerRow } from '../../core/scheduler.ts'
import { adminCall } from '../../http/admin.ts'
import { callerGone, type ErrorCode, SandboxError } from '../../model/errors.ts'
import { quoteInput } from '../../model/mask.ts'
import { isClockTime, Timestamp } from '../../model/text.ts'
import type { World } from '../../world.ts'

const instant = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 instant such as 2026-01-01T00:00:00Z',
})
const error = 'must be a duration such as "3m", "500ms", "2d" or "PT5S", of at most 10 years'
const duration = z.string({ error }).refine((text) => parseDuration(text) !== undefined, { error })

const NO_ADVANCE =
  'must be an object such as {"by": "3m"} or {"to": "2026-01-02T00:00:00Z"}; a duration such as "3m" has its unit with it'
const ADVANCE_REFUSALS: readonly ErrorCode[] = ['receiver_busy', 'too_many_timers', 'caller_gone']

/** Where a client's clock stands, and what is next on it. */
export const ClockResponse = z
  .strictObject({
    now: Timestamp,
    mode: z.enum(['real', 'frozen']),
    speed: z.number(),
    nextTimerAt: Timestamp.nullable(),
    pendingTimers: z.int(),
  })
  .meta({ id: 'Clock' })

const FiredTimer = z
  .looseObject({
    at: Timestamp,
    kind: z.string(),
    timer_id: z.string(),
    resource_id: z.string().optional(),
  })
  .meta({ id: 'FiredTimer' })
const FiredResponse = z
  .strictObject({
    now: Timestamp,
    fired: z.array(FiredTimer),
    left_out: z.int().optional().meta({
      description: 'How many more timers ran: `fired` has the first 10,000.',
    }),
  })
  .meta({ id: 'Fired' })
/** Something that is still to happen. */
export const Timer = z
  .strictObject({
    timer_id: z.string(),
    at: Timestamp,
    kind: z.string(),
    resource_id: z.string().optional(),
    payload: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Timer' })
const MAX_TIMERS = 10_000
const TimerCount = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_TIMERS, {
    error: `must be a whole number from 1 to ${MAX_TIMERS}`,
  })
  .transform(Number)
  .meta({ type: 'integer', minimum: 1, maximum: MAX_TIMERS })
const TimerPath = z.object({ id: z.string().min(1).max(64) })

/** Refuses an instant that ISO 8601 in its common form can't write. */
function writable(ms: number, field: string): number {
  if (isClockTime(ms)) return ms
  const message = `must not lead ${ms < 0 ? 'before the year 1970' : 'beyond the year 9999'}`
  throw new SandboxError('validation_failed', `${field} ${message}.`, {
    errors: [{ field, code: 'out_of_range', message }],
  })
}

const iso = (ms: number) => new Date(ms).toISOString()

/** A client's clock as it is told. */
export function clockResponse({ clock, scheduler }: World): z.input<typeof ClockResponse> {
  const { mode, speed } = clock.state
  const next = scheduler.next()
  return {
    now: clock.iso(),
    mode,
    speed,
    nextTimerAt: next ? iso(next.due_at) : null,
    pendingTimers: scheduler.pending().length,
  }
}

/** A timer as it is told. */
export const shownTimer = ({
  timer_id,
  due_at,
  kind,
  resource_id,
  payload,
}: TimerRow): z.input<typeof Timer> => ({
  timer_id,
  at: iso(due_at),
  kind,
  ...(resource_id !== undefined && { resource_id }),
  payload,
})

/** Runs what is due on the way, and stores where the clock then stands. */
async function moved(
  world: World,
  signal: AbortSignal,
  move: (options: AdvanceOptions) => Promise<Advanced>,
) {
  const keep = () => world.changeClock(() => {})
  const { now, fired, leftOut } = await move({ keep, signal })
  if (signal.aborted) throw callerGone()
  return { now, fired, ...(leftOut > 0 && { left_out: leftOut }) }
}

function timerOf({ scheduler }: World, id: string) {
  const timer = scheduler.pending().find(({ timer_id }) => timer_id === id)
  if (!timer)
    throw new SandboxError('not_found', `No timer ${quoteInput(id)} is pending for this client.`)
  return timer
}

/** A client's clock and what is still to happen on it. */
export const clockCalls = [
  adminCall({
    id: 'getClock',
    method: 'GET',
    url: '/clock',
    summary: 'Read the clock',
    response: ClockResponse,
    handle: clockResponse,
  }),
  adminCall({
    id: 'freezeClock',
    method: 'POST',
    url: '/clock/freeze',
    summary: 'Stop the clock, where it stands or at an instant; timers passed on the way run',
    body: z.strictObject({ at: instant.optional() }).default({}),
    response: ClockResponse,
    errors: ADVANCE_REFUSALS,
    async handle(world, { body, hangUpSignal }) {
      const at = body.at === undefined ? world.clock.now() : writable(Date.parse(body.at), 'at')
      // One that ends on its way stops the clock where it came to.
      const freeze = (isThrough: boolean) =>
        world.changeClock(() => world.clock.freeze(isThrough ? at : world.clock.now()))
      if (at > world.clock.now())
        await world.scheduler.advanceTo(at, { keep: freeze, signal: hangUpSignal() })
      else freeze(true)
      return clockResponse(world)
    },
  }),
  adminCall({
    id: 'resumeClock',
    method: 'POST',
    url: '/clock/resume',
    summary: 'Let the clock tick on from where it stands',
    response: ClockResponse,
    handle(world) {
      world.changeClock(world.clock.resume)
      return clockResponse(world)
    },
  }),
  adminCall({
    id: 'setClockSpeed',
    method: 'POST',
    url: '/clock/speed',
    summary: 'Make the clock tick faster or slower: 60 = a minute a second',
    body: z.strictObject({ factor: z.number().gt(0).max(1_000_000) }),
    response: ClockResponse,
    handle(world, { body }) {
      world.changeClock(() => world.clock.speed(body.factor))
      return clockResponse(world)
    },
  }),
  adminCall({
    id: 'advanceClock',
    method: 'POST',
    url: '/clock/advance',
    summary: 'Move time by a duration or to an instant; answers when all that was due has settled',
    body: z
      .strictObject(
        { by: duration.optional(), to: instant.optional() },
        { error: ({ code }) => (code === 'invalid_type' ? NO_ADVANCE : undefined) },
      )
      .refine(({ by, to }) => (by === undefined) !== (to === undefined), {
        path: ['by'],
        error: 'or to must be sent, and not both',
        params: { code: 'required' },
      }),
    response: FiredResponse,
    errors: ['clock_cannot_go_back', ...ADVANCE_REFUSALS],
    handle(world, { body: { by, to }, hangUpSignal }) {
      const { scheduler } = world
      if (by !== undefined) {
        const span = parseDuration(by)!
        writable(world.clock.now() + span, 'by')
        return moved(world, hangUpSignal(), (options) => scheduler.advanceBy(span, options))
      }
      const target = writable(Date.parse(to!), 'to')
      if (target < world.clock.now()) {
        throw new SandboxError(
          'clock_cannot_go_back',
          `It is ${world.clock.iso()} already, later than ${iso(target)}. Set an earlier time with /clock/freeze {"at"}.`,
        )
      }
      return moved(world, hangUpSignal(), (options) => scheduler.advanceTo(target, options))
    },
  }),
  adminCall({
    id: 'advanceClockToNext',
    method: 'POST',
    url: '/clock/next',
    summary: 'Jump to the next timer and run it',
    response: FiredResponse,
    errors: ADVANCE_REFUSALS,
    handle: (world, { hangUpSignal }) =>
      moved(world, hangUpSignal(), world.scheduler.advanceToNext),
  }),
  adminCall({
    id: 'listTimers',
    method: 'GET',
    url: '/timers',
    summary: 'What is still to happen, and when; soonest first',
    response: z.strictObject({ timers: z.array(Timer) }).meta({ id: 'Timers' }),
    query: z.object({ limit: TimerCount.optional() }),
    handle: ({ scheduler }, { query: { limit } }) => ({
      timers: scheduler.pending().slice(0, limit).map(shownTimer),
    }),
  }),
  adminCall({
    id: 'deleteTimer',
    method: 'DELETE',
    url: '/timers/:id',
    summary: 'Cancel a timer: it will not happen',
    params: TimerPath,
    response: z.strictObject({ deleted: z.string() }).meta({ id: 'DeletedTimer' }),
    handle(world, { params }) {
      const timer = timerOf(world, params.id)
      const { timer_id } = timer
      world.change(() => {
        world.scheduler.cancel(timer_id)
        world.deliveries.handleCancelled(timer)
      })
      world.rejectCancelled()
      return { deleted: timer_id }
    },
  }),
  adminCall({
    id: 'fireTimer',
    method: 'POST',
    url: '/timers/:id/fire',
    summary: 'Run a timer now',
    params: TimerPath,
    response: FiredResponse,
    async handle(world, { params }) {
      const fired = await world.scheduler.fire(timerOf(world, params.id))
      world.timeline.runDueEntries()
      return { now: world.clock.iso(), fired }
    },
  }),
]
