// The work yields to the event loop after this time, real ms.
const SLICE_MS = 8

/**
 * Runs long work in slices, so that the event loop serves other calls in between; the work can pause at each `yield`.
 * `check` runs before each pause and ends the work if it throws. Without `pauses` the work never pauses: a recording
 * must be repeatable.
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
      // Lets the work run its cleanup.
      work.return(undefined as never)
      throw error
    }
    if (pauses) await new Promise(setImmediate)
    until = performance.now() + SLICE_MS
  }
}
