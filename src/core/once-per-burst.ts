const QUIET_MS = 600_000

/** Calls `run` the first time, and then no more until it was not asked to for ten minutes. */
export function oncePerBurst(run: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - last > QUIET_MS) run()
    last = now
  }
}
