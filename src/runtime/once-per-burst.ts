const QUIET_MS = 600_000

/** Returns a function that calls `run` on its first call, and again only after a pause of ten minutes without calls. */
export function oncePerBurst(run: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - last > QUIET_MS) run()
    last = now
  }
}
