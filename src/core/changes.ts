import type { Op } from './document.ts'

/** How far a series was drawn. */
export type Draws = { counter: number }

/** What one change did to one world, and the counter that goes with it. */
type WorldPart = { world: string; counter: () => number; ops: Op[] }

type Change = { undo: (() => void)[]; parts: WorldPart[]; after: (() => void)[] }

/** Changes that stand in memory and are written at the end of this turn of the event loop. */
type Batch = {
  lines: string[]
  undo: (() => void)[]
  after: (() => void)[]
  onDurable: ((error?: unknown) => void)[]
  due: NodeJS.Immediate
}

const partOf = ({ world, counter, ops }: WorldPart) => [world, counter(), ops]

/** One line, whatever a change touches: half a change can't be found at the next start. */
const lineOf = (parts: readonly WorldPart[]): string =>
  JSON.stringify(parts.length === 1 ? partOf(parts[0]!) : parts.map(partOf))

function rollbackAll(undo: readonly (() => void)[], from = 0) {
  for (let i = undo.length - 1; i >= from; i--) undo[i]!()
}

/**
 * Makes changes whole: what a function does between its begin and its end is written in one line, or undone.
 *
 * `write` puts lines on the disk or throws, which undoes them; without it nothing is kept.
 */
export function createChanges(write?: (lines: readonly string[]) => void) {
  let open: Change | undefined
  let isBatching = false
  let pending: Batch | undefined

  /**
   * Runs a function whose changes count together: all are written in one journal line, or none happened.
   * Anything thrown undoes them, draws of `random` included. A change inside a change is part of the outer one, which
   * may go on where the inner one failed.
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

  /** Writes what waits, and a change of its own behind it; where that fails all of it is undone. */
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
    /** Notes what the open change did: what the journal is told, and the way back. */
    record(world: string, counter: () => number, op: Op, undo: () => void) {
      const { parts, undo: ways } = open!
      ways.push(undo)
      const last = parts.at(-1)
      if (last?.world === world) last.ops.push(op)
      else parts.push({ world, counter, ops: [op] })
    },
    /** Runs a function once the open change is written; at once where none is open. */
    afterCommit(run: () => void) {
      if (open) open.after.push(run)
      else run()
    },
    /**
     * Runs a function whose changes may be written at the end of this turn of the event loop, all in one write.
     * Whoever answers for them waits by `onDurable`; where the write fails they are undone.
     */
    batch<T>(run: () => T): T {
      isBatching = true
      try {
        return run()
      } finally {
        isBatching = false
      }
    },
    /** Tells when all that was changed until now is written, or by an error that it is undone. */
    onDurable(callback: (error?: unknown) => void) {
      if (pending) pending.onDurable.push(callback)
      else callback()
    },
    /** Writes now what waits. */
    flush: () => commitBatch(),
  }
}
