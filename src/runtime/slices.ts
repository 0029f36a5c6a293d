/** Long work shares the event loop with all clients: it runs in slices, which are counted here for the whole process. */

// The maximum time of one slice, real ms.
const SLICE_MS = 8
const TURNS_BETWEEN = 4

let sliceEnds: number | undefined
let lastTurn: Promise<void> = Promise.resolve()

const nextTurn = () => new Promise(setImmediate)

/** Whether the current slice of long work has used its time. */
export function isSliceOver(): boolean {
  const now = performance.now()
  if (sliceEnds === undefined) {
    sliceEnds = now + SLICE_MS
    setImmediate(() => {
      sliceEnds = undefined
    })
  }
  return now >= sliceEnds
}

/** Waits some turns of the event loop without long work: a call needs several from its connection to its response. */
async function rest() {
  for (let turn = 0; turn < TURNS_BETWEEN; turn++) await nextTurn()
  sliceEnds = undefined
}

/** Resolves when the caller may continue: one slice at a time, first come, first served. */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(rest)
  return lastTurn
}
