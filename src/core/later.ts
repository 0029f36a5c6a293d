/** Runs a function after `ms` real ms; returns a function that cancels it. */
export type Later = (ms: number, run: () => void) => () => void

export const realLater: Later = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** `realLater` with a timer that does not keep the process alive. */
export const unrefLater: Later = (ms, run) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}
