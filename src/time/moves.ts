import { SandboxError } from '../model/errors.ts'
import type { Later } from '../runtime/real-time.ts'
import { type AdvanceDeps, type AdvanceOptions, type AdvanceResult, advance } from './advance.ts'
import type { Ticker } from './ticker.ts'

// An advance waits this long (real ms) for attempts that it did not start: its caller may be their receiver.
const RECEIVER_WAIT_MS = 1_000

/** The error of an advance whose caller may be the receiver that it waits for. */
const receiverBusy = () =>
  new SandboxError(
    'receiver_busy',
    'A webhook attempt is still waiting for the response of your receiver. The clock was not moved. A webhook handler must respond before it advances the clock. Any other caller may try again; tests that run in parallel need one client each, such as the base path /@worker-1.',
  )

/** The calls that move the clock, one after the other. */
export function createMoves(deps: AdvanceDeps & { ticker: Ticker; later: Later }) {
  const { clock, runner, ticker, later } = deps
  let last: Promise<unknown> = Promise.resolve()

  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const mine = last.then(task)
    last = mine.catch(() => {})
    return mine
  }

  /**
   * Waits a moment for the attempts that wait for receivers; throws `receiver_busy` if a receiver does not respond in
   * time.
   */
  async function waitForReceivers(): Promise<void> {
    let cancel = () => {}
    const late = new Promise<boolean>((resolve) => {
      cancel = later(RECEIVER_WAIT_MS, () => resolve(true))
    })
    const isLate = await Promise.race([runner.work.receiversDone().then(() => false), late])
    cancel()
    if (isLate) throw receiverBusy()
  }

  return {
    /** Moves the clock to a target that is computed when it is this call's turn. */
    async move(getTarget: () => number, options: AdvanceOptions = {}): Promise<AdvanceResult> {
      // An advance cannot know whether its caller is a webhook handler, which would then never respond.
      if (runner.work.isWaitingForReceivers) await waitForReceivers()
      return inTurn(async () => {
        if (options.signal?.aborted) return { now: clock.iso(), fired: [], omitted: 0 }
        ticker.pause()
        try {
          return await advance(getTarget(), options, deps)
        } finally {
          ticker.resume()
        }
      })
    },
    /** Runs a function when no call moves the clock, so that it can replace state that such a call uses. */
    whenIdle: <T>(run: () => T): Promise<T> => inTurn(async () => run()),
  }
}
