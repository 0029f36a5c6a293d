// An event that does not occur within this real time, ms, never occurs: a replay waits for no clock.
const MAX_WAIT_MS = 10_000

/** A promise with its `resolve` function, like `Promise.withResolvers()`. */
export function createDeferred<T>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** Waits for a promise, but not longer than `MAX_WAIT_MS`. Returns whether it was resolved in time. */
export async function resolvesInTime(promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), MAX_WAIT_MS)
  })
  const inTime = await Promise.race([promise.then(() => true), timeout])
  clearTimeout(timer)
  return inTime
}
