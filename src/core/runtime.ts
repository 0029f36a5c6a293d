import { randomBytes } from 'node:crypto'
import { wallNow } from './clock.ts'
import { type Later, realLater, unrefLater } from './later.ts'
import { createSender, type Sender } from './send.ts'

/** All that reaches a sandbox besides its calls, by one door: so a run can be recorded, and fed with the same again. */
export type Runtime = {
  /** The wall clock, ms since 1970. */
  wall: () => number
  /** The clock that durations are told by, ms. */
  elapsed: () => number
  later: Later
  /** Makes an attempt of a webhook, or asks a probe. */
  send: Sender['send']
  /** 32 hex digits that nobody can guess. */
  secret: () => string
  /** Whether long work lets others in between, whenever it took long: then what they find is not the same each time. */
  yieldsToOthers: boolean
  /** Ends what is being sent. */
  close: () => void
}

/** The real outside; `allow`: the public hosts that webhooks may go to; `unref`: the process does not stay alive for it. */
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
