/** Runs a function after so many real ms; answers how to give that up. */
export type Later = (ms: number, run: () => void) => () => void

export const realLater: Later = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** The same, and the process does not stay alive for it. */
export const unrefLater: Later = (ms, run) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}
