// An advance pauses starting parallel timers when `MANY` run, until `FEW` are left, so that a long backlog is not
// started all together.
const [MANY, FEW] = [128, 64]

/** The work that timers have started and that has not ended yet. */
export class RunningWork {
  readonly #running = new Set<Promise<void>>()
  /** Attempts whose receivers have not responded yet. */
  readonly #attempts = new Set<Promise<void>>()
  // Called when an advance may start more timers.
  #onFew = () => {}

  /** Tracks work until it ends; `isAttempt`: it waits for a receiver. The returned promise does not reject. */
  track(begun: Promise<void>, isAttempt: boolean, onError: (error: unknown) => void) {
    const tracked = begun.catch(onError).then(() => {
      this.#attempts.delete(tracked)
      this.#running.delete(tracked)
      if (this.#running.size <= FEW) this.#onFew()
    })
    this.#running.add(tracked)
    if (isAttempt) this.#attempts.add(tracked)
    return tracked
  }

  get isAny(): boolean {
    return this.#running.size > 0
  }

  /** Whether an attempt waits for the response of its receiver. */
  get isWaitingForReceivers(): boolean {
    return this.#attempts.size > 0
  }

  /** Resolves when the receivers of all current attempts have responded. */
  async receiversDone(): Promise<void> {
    await Promise.all(this.#attempts)
  }

  /** Resolves when all started work has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#running)
  }

  /** Resolves when an advance may start more timers. */
  async room(): Promise<void> {
    if (this.#running.size < MANY) return
    await new Promise<void>((resolve) => {
      this.#onFew = resolve
    })
  }
}
