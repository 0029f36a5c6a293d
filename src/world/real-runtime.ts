import { nodeCrypto } from '../runtime/node-modules.ts'
import { realLater, unrefLater, wallNow } from '../runtime/real-time.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { createSender } from '../webhooks/send.ts'

/**
 * Creates the real runtime. `allow`: the public hosts that webhooks may reach; `unref`: its timers and connections do
 * not keep the process alive.
 */
export function createRuntime({
  allow,
  wall = wallNow,
  unref = false,
}: {
  allow: readonly string[]
  wall?: (() => number) | undefined
  unref?: boolean | undefined
}): Runtime {
  const later = unref ? unrefLater : realLater
  const { send, close } = createSender({ allow, wall, unref, later })
  return {
    wall,
    elapsed: () => performance.now(),
    later,
    send,
    secret: () => nodeCrypto().randomBytes(16).toString('hex'),
    close,
  }
}
