/** Something that will happen: a stored row, so that it can be listed, fired, cancelled and survives a restart. */
export type TimerRow = {
  timer_id: string
  /** Client's time, ms. */
  due_at: number
  /** Insertion number; breaks ties of `due_at`. */
  seq: number
  kind: string
  /** The id of the resource it is about, if any. */
  resource_id?: string | undefined
  payload: Record<string, unknown>
}

/** What ran, as `clock/advance` tells it. */
export type Fired = { at: string; kind: string; timer_id: string; resource_id?: string } & Record<
  string,
  unknown
>

/** Those that run at once: what they come to is stored in this order, so that a run can be repeated. */
export type CommitOrder = {
  /** Ends when the result of the one before is stored. */
  last: Promise<void>
}

/** An order for those that one call runs. */
export const createCommitOrder = (): CommitOrder => ({ last: Promise.resolve() })

/**
 * Does what a timer says. A promise is waited for when time is advanced, and not when the clock ticks; fields tell what
 * came of it where that is not what the payload says; `false`: it could not happen any more.
 */
export type TimerHandler = (
  timer: TimerRow,
  /** Absent while the clock ticks: then nobody waits for a slow receiver. */
  order: CommitOrder | undefined,
) => Promise<void> | Readonly<Record<string, unknown>> | false | undefined

/** How timers of one kind are run. */
export type KindOptions = {
  /** They are sent to a receiver; an advance starts those of one instant together and waits for all of them. */
  parallel?: boolean
  /** How much work one is; 1 is a row or two. */
  cost?: (timer: TimerRow) => number
  /** How often a timer that schedules itself again runs until an instant, that instant included. */
  countRuns?: (timer: TimerRow, at: number) => number
}

/** How timers are stored; `change` makes a timer's end and its effects one write. */
export type TimerRows = {
  all: () => Iterable<TimerRow>
  get: (id: string) => TimerRow | undefined
  put: (row: TimerRow) => void
  remove: (id: string) => void
  change: <T>(run: () => T) => T
  nextSeq: () => number
}
