import { SandboxError } from '../model/errors.ts'
import { LAST_INSTANT } from '../model/formats.ts'
import { quoteInput } from '../model/mask.ts'
import { canTransition, type LifecycleKind, type StatusOf } from '../model/payment.ts'
import type { Entry } from '../store/table.ts'
import { TABLE_OF } from '../tables/resources.ts'
import type { Rows } from '../tables/rows.ts'
import { notFound, type WorldContext } from '../tables/world-context.ts'

type RowOf<K extends LifecycleKind> = Rows[(typeof TABLE_OF)[K]]
type StepOf<K extends LifecycleKind> = { status: StatusOf[K]; after_ms: number }
/** A step without its delay. */
export type Transition<Step> = Omit<Step, 'after_ms'>

/** What differs between the resources that change over time. */
export type LifecycleSpec<K extends LifecycleKind, Step extends StepOf<K>> = {
  kind: K
  /** The name of the resource in messages. */
  noun: string
  statusOf: (row: RowOf<K>) => StatusOf[K]
  /** The row after a transition; it may have another status than the one that the transition asks for. */
  apply: (row: RowOf<K>, transition: Transition<Step>) => RowOf<K>
  /** Called inside the change for every row with a new status, before its event. */
  onEntered?: (row: RowOf<K>) => void
  /** The payload of a step's timer (default: the step). */
  payloadOf?: (step: Step) => object
  /** The end of the message about a transition that is not allowed. */
  hintFor: (from: StatusOf[K]) => string
}

/** The kind of the timer that ends the lag of a new row. */
export const VISIBLE_TIMER = 'row.visible'
export type NewTable = 'users' | 'kyc' | 'bank_accounts' | 'payments'

/** Stores a new row; reads find it after a lag, ms, but writes and the admin API at once. */
export function putNew<T extends NewTable>(
  { store, clock, scheduler }: WorldContext,
  table: T,
  row: Rows[T],
  lag = 0,
): Entry<Rows[T]> {
  if (lag === 0) return store.put(table, row)
  const due_at = Math.min(clock.now() + lag, LAST_INSTANT)
  const entry = store.put(table, { ...row, visible_at: new Date(due_at).toISOString() })
  const payload = { table }
  scheduler.schedule({ due_at, kind: VISIBLE_TIMER, resource_id: entry.id, payload })
  return entry
}

/** The lifecycle of one kind of resource: each status is stored, announced as an event, and followed by scheduled steps. */
export function createLifecycle<K extends LifecycleKind, Step extends StepOf<K>>(
  context: WorldContext,
  spec: LifecycleSpec<K, Step>,
) {
  const { store, clock, scheduler, events } = context
  const { kind, noun, statusOf, apply, onEntered, payloadOf = (step) => step, hintFor } = spec
  const table: (typeof TABLE_OF)[K] = TABLE_OF[kind]
  const rows = store.tables[table]
  const timerKind = `${kind}.step`

  /** Announces the status of a row that was just stored. */
  function announce(entry: Entry<RowOf<K>>) {
    const { id, row } = entry
    onEntered?.(row)
    events.emit(`${kind}.${statusOf(row).toLowerCase()}`, id)
    return entry
  }

  function get(id: string) {
    const entry = rows.entry(id)
    if (!entry) throw notFound(noun, quoteInput(id))
    return entry
  }

  scheduler.handle(timerKind, (timer) => {
    const id = timer.resource_id!
    const row = rows.get(id)
    const step = timer.payload as Step
    // A step that is no valid transition is ignored.
    if (!row || !canTransition(kind, statusOf(row), step.status)) return false
    const reached = statusOf(announce(store.put(table, apply(row, step))).row)
    // Skipped steps do not run later, but a reversal may still follow.
    if (scheduler.isEarly(timer))
      scheduler.cancelAll(
        timerKind,
        id,
        ({ status }) => !canTransition(kind, reached, status as string),
      )
    return reached === step.status ? undefined : { status: reached }
  })

  return {
    /** Returns the entry of a resource; throws `not_found`. */
    get,
    /** Stores a new resource with its first status, and schedules the steps after the first one. */
    begin(row: RowOf<K>, steps: readonly Step[], lag?: number) {
      const entry = announce(putNew(context, table, row, lag))
      let due_at = clock.now()
      for (let i = 1; i < steps.length; i++) {
        const step = steps[i]!
        due_at += step.after_ms
        scheduler.schedule({
          due_at,
          kind: timerKind,
          resource_id: entry.id,
          payload: payloadOf(step) as Record<string, unknown>,
        })
      }
      return entry
    },
    /** Changes the status on request and cancels the scheduled steps; throws `invalid_transition`. */
    simulate: (id: string, transition: Transition<Step> & { status: StatusOf[K] }) =>
      store.change(() => {
        const { row } = get(id)
        const [from, to] = [statusOf(row), transition.status]
        if (!canTransition(kind, from, to)) {
          throw new SandboxError(
            'invalid_transition',
            `A ${from} ${noun} cannot become ${to}${hintFor(from)}`,
          )
        }
        scheduler.cancelAll(timerKind, id)
        return announce(store.put(table, apply(row, transition)))
      }),
  }
}
