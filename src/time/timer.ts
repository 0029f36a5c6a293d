import type { TimerRow } from '../model/delivery.ts'

export type { TimerRow }

/** A timer that ran, as `clock/advance` returns it. */
export type Fired = { at: string; kind: string; timer_id: string; resource_id?: string } & Record<
  string,
  unknown
>

/** The order in which the results of parallel timers are stored, so that a run is repeatable. */
export type CommitOrder = {
  /** Resolves when the result of the previous timer is stored. */
  last: Promise<void>
}

/** Creates the order for the timers of one call. */
export const createCommitOrder = (): CommitOrder => ({ last: Promise.resolve() })

/**
 * Runs a timer. An advance waits for a returned promise, a ticking clock does not. Returned fields override the
 * payload in the report; `false`: the timer could no longer take effect.
 */
export type TimerHandler = (
  timer: TimerRow,
  /** Undefined on a ticking clock: then no call waits for a slow receiver. */
  order: CommitOrder | undefined,
) => Promise<void> | Readonly<Record<string, unknown>> | false | undefined

/** How timers of one kind are run. */
export type KindOptions = {
  /** They are sent to a receiver; an advance starts those of one instant in parallel and waits for all of them. */
  parallel?: boolean
  /** How often a repeating timer runs up to and including an instant. */
  countRuns?: (timer: TimerRow, at: number) => number
}

/** How timers are stored; `change` makes a timer's end and its effects one write. */
export type TimerRows = {
  /** All timers, soonest first; of those that are due together, the one that was inserted first. */
  all: () => TimerRow[]
  soonest: () => TimerRow | undefined
  count: () => number
  get: (id: string) => TimerRow | undefined
  /** Adds a timer whose id is new. */
  insert: (row: TimerRow) => void
  remove: (id: string) => void
  change: <T>(run: () => T) => T
  /** How many ops the open change has. */
  changeSize: () => number
  nextSeq: () => number
}
