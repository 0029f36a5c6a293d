import { randomBytes } from 'node:crypto'
import { wallNow } from './clock.ts'
import { type Later, realLater, unrefLater } from './later.ts'
import { createSender, type Sender } from './send.ts'

/**
 * Every input of a sandbox besides its calls goes through this interface, so that a run can be recorded and replayed.
 */
export type Runtime = {
  /** The wall clock, ms since 1970. */
  wall: () => number
  /** The monotonic clock for durations, ms. */
  elapsed: () => number
  later: Later
  /** Sends a webhook attempt or a request to a probe. */
  send: Sender['send']
  /** 32 hex digits that nobody can guess. */
  secret: () => string
  /**
   * Whether long work yields depending on elapsed time. A repeatable run must not: other calls would see different
   * states.
   */
  yieldsToOthers: boolean
  /** Ends running attempts. */
  close: () => void
}

/**
 * Creates the real runtime. `allow`: the public hosts that webhooks may reach; `unref`: its timers and connections do
 * not keep the process alive.
 */
export function createRuntime({
  allow,
  wall = wallNow,
  unref = false,
  maxOpen,
  onDescriptorLimit,
}: {
  allow: readonly string[]
  wall?: (() => number) | undefined
  unref?: boolean | undefined
  /** Connections to receivers that are open at once. */
  maxOpen?: number | undefined
  onDescriptorLimit?: () => void
}): Runtime {
  const later = unref ? unrefLater : realLater
  const { send, close } = createSender({
    allow,
    wall,
    unref,
    later,
    maxOpen,
    ...(onDescriptorLimit && { onDescriptorLimit }),
  })
  return {
    wall,
    elapsed: () => performance.now(),
    later,
    send,
    secret: () => randomBytes(16).toString('hex'),
    yieldsToOthers: true,
    close,
  }
}
