// What does not happen within this, real ms, does not happen: nothing in a replay waits for time.
const MAX_MS = 10_000

/** A promise with its end in hand. */
export function awaited<T>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** Whether something happens in time. */
export async function happens(promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), MAX_MS)
  })
  const inTime = await Promise.race([promise.then(() => true), late])
  clearTimeout(timer)
  return inTime
}
