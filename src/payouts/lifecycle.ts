import { lateSuccess } from '../assumptions/payments.ts'
import { SandboxError } from '../model/errors.ts'
import { canTransition, type LifecycleKind, type StatusOf } from '../model/payment.ts'
import type { Entry } from '../store/table.ts'
import { withLag } from '../tables/list-page.ts'
import type { Rows } from '../tables/rows.ts'
import { entryIn, TABLE_OF, type WorldContext } from '../tables/world-context.ts'

type RowOf<K extends LifecycleKind> = Rows[(typeof TABLE_OF)[K]]
type StepOf<K extends LifecycleKind> = { status: StatusOf[K]; after_ms: number }
export type Transition<Step> = Omit<Step, 'after_ms'>

/** What differs between the resources that change over time. */
export type LifecycleSpec<K extends LifecycleKind, Step extends StepOf<K>> = {
  kind: K
  noun: string
  statusOf: (row: RowOf<K>) => StatusOf[K]
  /** The row after a transition; it may have another status than the one that the transition asks for. */
  apply: (row: RowOf<K>, transition: Transition<Step>) => RowOf<K>
  /** Called inside the change for every row with a new status, before its event. */
  onEntered?: (row: RowOf<K>) => void
  /** The payload of a step's timer (default: the step). */
  payloadOf?: (step: Step) => object
  /** The end of the message about a transition that is not allowed. */
  hintFor: (from: StatusOf[K], hasLateSuccess: boolean) => string
}

/** The lifecycle of one kind of resource: each status is stored, announced as an event, and followed by scheduled steps. */
export function createLifecycle<K extends LifecycleKind, Step extends StepOf<K>>(
  { store, clock, scheduler, events, assumed }: WorldContext,
  spec: LifecycleSpec<K, Step>,
) {
  const { kind, noun, statusOf, apply, onEntered, payloadOf = (step) => step, hintFor } = spec
  const table: (typeof TABLE_OF)[K] = TABLE_OF[kind]
  const rows = store.tables[table]
  const timerKind = `${kind}.step`
  const hasLateSuccess = () => assumed.get(lateSuccess) === 'possible'
  const canBecome = (from: string, to: string) => canTransition(kind, from, to, hasLateSuccess())

  function announce(entry: Entry<RowOf<K>>) {
    const { id, row } = entry
    onEntered?.(row)
    events.emit(`${kind}.${statusOf(row).toLowerCase()}`, id)
    return entry
  }
  const get = (id: string) => entryIn(rows, noun, id)

  scheduler.handle(timerKind, (timer) => {
    const id = timer.resource_id!
    const row = rows.get(id)
    const step = timer.payload as Step
    // A step that is no valid transition is ignored.
    if (!row || !canBecome(statusOf(row), step.status)) return false
    const reached = statusOf(announce(store.put(table, apply(row, step))).row)
    // Skipped steps do not run later, but a reversal may still follow.
    if (scheduler.isEarly(timer))
      scheduler.cancelAll(
        timerKind,
        id,
        ({ status }, due_at) => due_at < timer.due_at || !canBecome(reached, status as string),
      )
    return reached === step.status ? undefined : { status: reached }
  })

  return {
    get,
    /** Stores a new resource with its first status, and schedules the steps after the first one. */
    begin(row: RowOf<K>, steps: readonly Step[], lag?: number) {
      const entry = announce(store.put(table, withLag(row, lag, clock)))
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
        if (!canBecome(from, to))
          throw new SandboxError(
            'invalid_transition',
            `A ${from} ${noun} cannot become ${to}${hintFor(from, hasLateSuccess())}`,
          )
        scheduler.cancelAll(timerKind, id)
        return announce(store.put(table, apply(row, transition)))
      }),
  }
}
