import type { Op } from './document.ts'

/** The position in a random series. */
export type Draws = { counter: number }

/** What one change did to one world, and the counter that goes with it. */
type WorldPart = { world: string; counter: () => number; ops: Op[] }

type Change = { undo: (() => void)[]; parts: WorldPart[]; after: (() => void)[] }

/** Changes in memory that are written at the end of this turn of the event loop. */
type Batch = {
  lines: string[]
  undo: (() => void)[]
  after: (() => void)[]
  onDurable: ((error?: unknown) => void)[]
  due: NodeJS.Immediate
}

const partOf = ({ world, counter, ops }: WorldPart) => [world, counter(), ops]

/** One line per change, so that the next start finds the whole change or nothing. */
const lineOf = (parts: readonly WorldPart[]): string =>
  JSON.stringify(parts.length === 1 ? partOf(parts[0]!) : parts.map(partOf))

function rollbackAll(undo: readonly (() => void)[], from = 0) {
  for (let i = undo.length - 1; i >= from; i--) undo[i]!()
}

/**
 * Makes changes atomic: the changes of a function are written in one line, or rolled back.
 *
 * `write` writes lines to the disk or throws, which rolls the changes back; without `write` changes are only in
 * memory.
 */
export function createChanges(write?: (lines: readonly string[]) => void) {
  let open: Change | undefined
  let isBatching = false
  let pending: Batch | undefined

  /**
   * Runs a function as one transaction: all its changes are written in one journal line, or none. If it throws, they
   * are rolled back, with the counter of `random`. A nested change is part of the outer one, which may continue if the
   * inner one fails.
   */
  function change<T>(run: () => T, random?: Draws): T {
    if (open) return changeWithin(open, run, random)
    const mine: Change = { undo: random ? [rollbackOf(random)] : [], parts: [], after: [] }
    open = mine
    let result: T
    let line: string | undefined
    try {
      result = run()
      if (write && mine.parts.length > 0) line = lineOf(mine.parts)
    } catch (error) {
      rollbackAll(mine.undo)
      throw error
    } finally {
      open = undefined
    }
    if (line === undefined) for (const run of mine.after) run()
    else if (isBatching) enqueue(mine, line)
    else commitBatch(mine, line)
    return result
  }

  function rollbackOf(random: Draws) {
    const { counter } = random
    return () => {
      random.counter = counter
    }
  }

  function changeWithin<T>(outer: Change, run: () => T, random?: Draws): T {
    const { undo, parts, after } = outer
    const [undoCount, afterCount, partCount] = [undo.length, after.length, parts.length]
    const ops = parts.at(-1)?.ops
    const committedOps = ops?.length ?? 0
    if (random) undo.push(rollbackOf(random))
    try {
      return run()
    } catch (error) {
      rollbackAll(undo, undoCount)
      undo.length = undoCount
      after.length = afterCount
      parts.length = partCount
      if (ops) ops.length = committedOps
      throw error
    }
  }

  function enqueue({ undo, after }: Change, line: string) {
    pending ??= { lines: [], undo: [], after: [], onDurable: [], due: setImmediate(commitBatch) }
    pending.lines.push(line)
    pending.undo.push(...undo)
    pending.after.push(...after)
  }

  /** Writes the pending changes, and `own` after them; if the write fails, all are rolled back. */
  function commitBatch(own?: Change, line?: string) {
    const earlier = pending
    pending = undefined
    if (earlier) clearImmediate(earlier.due)
    const lines = earlier?.lines ?? []
    if (line !== undefined) lines.push(line)
    if (lines.length === 0) return
    try {
      write!(lines)
    } catch (error) {
      if (own) rollbackAll(own.undo)
      if (earlier) {
        rollbackAll(earlier.undo)
        for (const callback of earlier.onDurable) callback(error)
      }
      if (own) throw error
      return
    }
    for (const run of earlier?.after ?? []) run()
    for (const run of own?.after ?? []) run()
    for (const callback of earlier?.onDurable ?? []) callback()
  }

  return {
    change,
    get isOpen() {
      return open !== undefined
    },
    /** Records an op of the open change for the journal, and its rollback. */
    record(world: string, counter: () => number, op: Op, undo: () => void) {
      const { parts, undo: ways } = open!
      ways.push(undo)
      const last = parts.at(-1)
      if (last?.world === world) last.ops.push(op)
      else parts.push({ world, counter, ops: [op] })
    },
    /** Runs a function after the open change is committed; immediately if none is open. */
    afterCommit(run: () => void) {
      if (open) open.after.push(run)
      else run()
    },
    /**
     * Runs a function whose changes may be written together at the end of this turn of the event loop (group commit).
     * A caller that acknowledges them must wait with `onDurable`; if the write fails, they are rolled back.
     */
    batch<T>(run: () => T): T {
      isBatching = true
      try {
        return run()
      } finally {
        isBatching = false
      }
    },
    /** Calls back when all changes so far are written, or with an error when they were rolled back. */
    onDurable(callback: (error?: unknown) => void) {
      if (pending) pending.onDurable.push(callback)
      else callback()
    },
    /** Writes the pending changes now. */
    flush: () => commitBatch(),
  }
}
