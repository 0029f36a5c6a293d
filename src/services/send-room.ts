/** One client's way into the room; each `enter` is followed by a `leave`. */
export type SendLane = {
  /** Waits for room; `undefined` where there is some. */
  enter(): Promise<void> | undefined
  leave(): void
}

// Webhook attempts of all clients at once, where the limit on descriptors is not lower.
export const MAX_ATTEMPTS = 256
// Attempts of one client at once.
const MAX_PER_LANE = 64
// The room is short when attempts have waited for it this long, real ms: as long as a receiver may hang.
const SATURATED_MS = 10_000

/** A queue whose cost does not grow with its length. */
function createQueue<T>() {
  let items: T[] = []
  let next = 0
  return {
    get isEmpty() {
      return next === items.length
    },
    push(item: T) {
      items.push(item)
    },
    take(): T {
      const item = items[next++]!
      if (next === items.length) {
        items = []
        next = 0
      } else if (next > 1_024 && next * 2 > items.length) {
        items = items.slice(next)
        next = 0
      }
      return item
    },
  }
}

/**
 * Room for webhook attempts, shared by all clients: so many at once, so that hanging receivers leave descriptors for
 * the port. Who waits gets in by turns, one attempt of each client; the attempts of one client keep their order.
 */
export function createSendRoom({
  most: maxConcurrent = MAX_ATTEMPTS,
  onShort: onSaturated,
}: {
  most?: number
  /** Told with each attempt while the room is short. */
  onShort: () => void
}) {
  let totalRunning = 0
  let saturatedSince: number | undefined
  // One for each client with a waiting attempt that its own limit lets in; the next turn first.
  const turns = createQueue<() => void>()

  function checkSaturation() {
    if (turns.isEmpty) saturatedSince = undefined
    else {
      saturatedSince ??= performance.now()
      if (performance.now() - saturatedSince > SATURATED_MS) onSaturated()
    }
  }

  return {
    /** A client's way in. */
    lane(): SendLane {
      const waiting = createQueue<() => void>()
      let running = 0
      let hasTurn = false

      function waitForTurn() {
        if (hasTurn || waiting.isEmpty || running === MAX_PER_LANE) return
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
          while (totalRunning < maxConcurrent && !turns.isEmpty) turns.take()()
          checkSaturation()
        },
      }
    },
  }
}

/** The room of a sandbox. */
export type SendRoom = ReturnType<typeof createSendRoom>
