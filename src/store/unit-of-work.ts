/** Properties of a world that never change: the base that a reset restores, if the world has its own. */
export type WorldAbout = { readonly base?: string }

/** One step of a change, as the journal has it. */
export type Op =
  | ['base', key: string, rows: Readonly<Record<string, readonly unknown[]>>]
  | ['world', name: string, baseKey: string, about: WorldAbout]
  | ['fork', name: string, source: string, snapshot: string | null, about: WorldAbout]
  | WorldOp

/** A step that changes an existing world. */
export type WorldOp =
  | ['save', snapshot: string, counter: number]
  | ['restore', snapshot: string]
  | ['forget', snapshot: string]
  | ['put', table: string, row: unknown]
  | ['remove', table: string, id: string]
  | ['reset', baseKey: string]
  | ['drop']

/** What one atomic change did, one part for each world. */
export type AtomicChange = readonly [world: string, counter: number, ops: Op[]][]

export type Draws = { counter: number }

/** The world that an op changes, as the journal names it. The counter is read when the change commits. */
export type OpTarget = { readonly name: string; readonly random: Readonly<Draws> }

/** How to roll a change back, what to write, and what to run after its commit. */
type Change = {
  undo: (() => void)[]
  parts: { world: OpTarget; ops: Op[] }[]
  after: (() => void)[]
}

/** A change whose functions have ended, as it is written. */
type Written = Change & { line: AtomicChange }

/** Changes in memory that are written together at the end of this turn of the event loop. */
type Group = { changes: Written[]; onDurable: ((error?: unknown) => void)[]; due: NodeJS.Immediate }

export type WriteChanges = (changes: readonly AtomicChange[]) => void

function rollback(undo: readonly (() => void)[], from = 0) {
  for (let i = undo.length - 1; i >= from; i--) undo[i]!()
}

function rollbackOf(random: Draws) {
  const { counter } = random
  return () => {
    random.counter = counter
  }
}

/** Makes changes atomic: the changes of a function are written in one line, or rolled back. */
export class UnitOfWork {
  /** If it throws, the changes are rolled back. Without it changes are only in memory. */
  write: WriteChanges | undefined
  #open: Change | undefined
  #isBatching = false
  #group: Group | undefined

  constructor(write?: WriteChanges) {
    this.write = write
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  get size(): number {
    return this.#open?.undo.length ?? 0
  }

  /**
   * Runs a function as one transaction: if it throws, its changes are rolled back, with the counter of `random`. A nested
   * change is part of the outer one, which may continue if the inner one fails.
   */
  readonly change = <T>(run: () => T, random?: Draws): T => {
    if (this.#open) return changeWithin(this.#open, run, random)
    const mine: Change = { undo: random ? [rollbackOf(random)] : [], parts: [], after: [] }
    this.#open = mine
    let result: T
    try {
      result = run()
    } catch (error) {
      rollback(mine.undo)
      throw error
    } finally {
      this.#open = undefined
    }
    if (!this.write || mine.parts.length === 0) for (const run of mine.after) run()
    else this.#close(mine)
    return result
  }

  /** Records an op of the open change for the journal, and its rollback. */
  record(world: OpTarget, op: Op, undo: () => void) {
    const open = this.#open!
    open.undo.push(undo)
    const last = open.parts.at(-1)
    if (last?.world === world) last.ops.push(op)
    else open.parts.push({ world, ops: [op] })
  }

  /** Runs a function after the open change is committed; immediately if none is open. */
  readonly afterCommit = (run: () => void) => {
    if (this.#open) this.#open.after.push(run)
    else run()
  }

  /** Group commit: changes are written at the end of this turn of the event loop. Who acknowledges them waits with `onDurable`. */
  readonly batch = <T>(run: () => T): T => {
    this.#isBatching = true
    try {
      return run()
    } finally {
      this.#isBatching = false
    }
  }

  /** Calls back when all changes so far are written, or with an error when they were rolled back. */
  readonly onDurable = (callback: (error?: unknown) => void) => {
    if (this.#group) this.#group.onDurable.push(callback)
    else callback()
  }

  /** Writes a change now, or at the end of the turn. */
  #close(change: Change) {
    const line: AtomicChange = change.parts.map(({ world, ops }) => [
      world.name,
      world.random.counter,
      ops,
    ])
    const written = { ...change, line }
    if (!this.#isBatching) return this.flush(written)
    this.#group ??= { changes: [], onDurable: [], due: setImmediate(() => this.flush()) }
    this.#group.changes.push(written)
  }

  /** Writes the changes that wait, and `own` after them; if the write fails, all are rolled back. */
  flush(own?: Written) {
    const { changes = [], onDurable = [], due } = this.#group ?? {}
    this.#group = undefined
    clearImmediate(due)
    if (own) changes.push(own)
    if (changes.length === 0) return
    try {
      this.write!(changes.map(({ line }) => line))
    } catch (error) {
      for (const { undo } of changes.reverse()) rollback(undo)
      for (const callback of onDurable) callback(error)
      if (own) throw error
      return
    }
    for (const { after } of changes) for (const run of after) run()
    for (const callback of onDurable) callback()
  }
}

function changeWithin<T>({ undo, parts, after }: Change, run: () => T, random?: Draws): T {
  const [undoCount, afterCount, partCount] = [undo.length, after.length, parts.length]
  const ops = parts.at(-1)?.ops
  const committedOps = ops?.length ?? 0
  if (random) undo.push(rollbackOf(random))
  try {
    return run()
  } catch (error) {
    rollback(undo, undoCount)
    undo.length = undoCount
    after.length = afterCount
    parts.length = partCount
    if (ops) ops.length = committedOps
    throw error
  }
}
