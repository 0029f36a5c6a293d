import type { Runtime } from '../runtime/runtime.ts'
import { isSliceOver, ownTurn } from '../runtime/slices.ts'

// A repeatable run must not depend on elapsed time: it yields after this number of batches.
const BATCHES_IN_A_ROW = 16

/** Lets other work run between the batches of timers of one client. */
export function createYielding({
  later,
  yieldsToOthers,
}: Pick<Runtime, 'later' | 'yieldsToOthers'>) {
  let batches = 0

  /** Whether this work has run long enough and should yield. */
  function isDue(): boolean {
    if (yieldsToOthers) return isSliceOver()
    batches = (batches + 1) % BATCHES_IN_A_ROW
    return batches === 0
  }

  /** Calls `run` after other work had its turn; returns a function that cancels it. */
  function continueLater(run: () => void): () => void {
    if (!yieldsToOthers) return later(0, run)
    let isWanted = true
    ownTurn().then(() => {
      if (isWanted) run()
    })
    return () => {
      isWanted = false
    }
  }

  return {
    isDue,
    continueLater,
    /** Resolves after other work had its turn; undefined if it is not due. */
    yieldIfDue: (): Promise<void> | undefined =>
      isDue() ? new Promise((resolve) => void continueLater(resolve)) : undefined,
  }
}

export type Yielding = ReturnType<typeof createYielding>
