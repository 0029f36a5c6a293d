import { SandboxError } from '../model/errors.ts'

/** Limits concurrency: `enter` throws `server_busy` if the maximum is reached; it returns the function that leaves. */
export type Gate = { enter: () => () => void }

/** `what`: the start of the error message: what is running while the limit is reached. */
export function createGate(max: number, what: string): Gate {
  let inside = 0
  return {
    enter() {
      if (inside >= max)
        throw new SandboxError(
          'server_busy',
          `${what} already. Nothing was changed; send the call again in a second.`,
          { headers: { 'retry-after': '1' } },
        )
      inside++
      let isIn = true
      return () => {
        if (isIn) inside--
        isIn = false
      }
    },
  }
}
