// The event loop is given back after this much work, real ms.
const SLICE_MS = 8

/**
 * Runs long work in slices, so that other calls are answered in between; each `yield` of the work is a place to pause.
 * `check` runs before each pause and ends the work by what it throws. Without `pauses` the work runs in one go: a
 * recording needs that.
 */
export async function inSlices<T>(
  work: Generator<unknown, T>,
  { pauses, check = () => {} }: { pauses: boolean; check?: (() => void) | undefined },
): Promise<T> {
  let until = performance.now() + SLICE_MS
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (performance.now() < until) continue
    try {
      check()
    } catch (error) {
      // The work may have something to tidy up.
      work.return(undefined as never)
      throw error
    }
    if (pauses) await new Promise(setImmediate)
    until = performance.now() + SLICE_MS
  }
}
