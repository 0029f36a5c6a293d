import { SandboxError } from '../model/errors.ts'

/** Lets a few at once in and refuses the others; what it hands out lets the next one in. */
export type Gate = { enter: () => () => void }

/** `what`: what is under way while nobody else is let in, as a sentence's beginning. */
export function createGate(most: number, what: string): Gate {
  let inside = 0
  return {
    enter() {
      if (inside >= most)
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
