import { Queue } from '../runtime/queue.ts'

/** The queue of one client; each `enter` is followed by a `leave`. */
export type SendLane = {
  /** Waits for a free slot; returns `undefined` if one is free now. */
  enter(): Promise<void> | undefined
  leave(): void
}

// Concurrent webhook attempts of all clients, if the limit on descriptors is not lower.
export const MAX_ATTEMPTS = 256
// Concurrent attempts of one client.
const MAX_PER_LANE = 64
// Attempts have waited too long after this time, real ms: as long as a receiver may hang.
const SATURATED_MS = 10_000

/**
 * Limits the concurrent webhook attempts of all clients, so that hanging receivers leave descriptors for the port.
 * Waiting clients take turns, one attempt each; the attempts of one client stay in order.
 */
export function createSendLimit({
  maxConcurrent = MAX_ATTEMPTS,
  onSaturated,
}: {
  maxConcurrent?: number
  /** Called with each attempt while attempts wait too long. */
  onSaturated: () => void
}) {
  let totalRunning = 0
  let saturatedSince: number | undefined
  // One for each client that has a waiting attempt and is below its own limit; the next turn first.
  const turns = new Queue<() => void>()

  function checkSaturation() {
    if (turns.size === 0) saturatedSince = undefined
    else {
      saturatedSince ??= performance.now()
      if (performance.now() - saturatedSince > SATURATED_MS) onSaturated()
    }
  }

  return {
    /** Makes the queue of one client. */
    lane(): SendLane {
      const waiting = new Queue<() => void>()
      let running = 0
      let hasTurn = false

      function waitForTurn() {
        if (hasTurn || waiting.size === 0 || running === MAX_PER_LANE) return
        hasTurn = true
        turns.push(takeTurn)
      }

      function takeTurn() {
        hasTurn = false
        running++
        totalRunning++
        const start = waiting.take()
        waitForTurn()
        start()
      }

      return {
        enter() {
          if (totalRunning < maxConcurrent && running < MAX_PER_LANE) {
            running++
            totalRunning++
            return undefined
          }
          return new Promise((resolve) => {
            waiting.push(resolve)
            waitForTurn()
            checkSaturation()
          })
        },
        leave() {
          running--
          totalRunning--
          waitForTurn()
          while (totalRunning < maxConcurrent && turns.size > 0) turns.take()()
          checkSaturation()
        },
      }
    },
  }
}

/** The limiter of a sandbox. */
export type SendLimit = ReturnType<typeof createSendLimit>
