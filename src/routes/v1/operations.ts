import { newWords } from '../../assumptions/responses.ts'
import type { LateCall } from '../../content/timer-payloads.ts'
import type { Input, Operation } from '../../http/endpoint.ts'
import { LATER } from '../../http/idempotency.ts'
import { SandboxError } from '../../model/errors.ts'
import type { Log } from '../../runtime/runtime.ts'
import type { World } from '../../world/world.ts'
import { clientOperations } from './client.ts'
import { historyOperations, transactionOperations } from './transactions.ts'
import { userOperations } from './users.ts'

export const OPERATIONS: readonly Operation[] = [
  ...userOperations,
  ...transactionOperations,
  ...historyOperations,
  ...clientOperations,
]

/** Runs a call whose effect comes after its response: it is checked again, as the client may have changed. */
export function runLate(
  world: World,
  { operation, body, lifecycles, key, traceparent }: LateCall,
  log: Log,
) {
  const op = OPERATIONS.find(({ id }) => id === operation)!
  const stored = world.tables.tables.idempotency.get(key ?? '')
  const waiting = stored?.status === LATER && stored
  const input = { body } as Input
  try {
    const result = world.webhooks.deliveries.causedBy(traceparent, false, () =>
      op.handle(world, input, lifecycles, op.check?.(world, input)),
    )
    const text = JSON.stringify(world.scenarios.assumptions.get(newWords)(result))
    if (waiting) world.tables.put('idempotency', { ...waiting, status: op.status, body: text })
    // A report of timers that ran does not show what was sent.
    return { body: undefined, lifecycles: undefined, key: undefined }
  } catch (error) {
    if (!(error instanceof SandboxError) || error.status >= 500) throw error
    if (waiting) world.tables.remove('idempotency', waiting.key)
    const what = `the late effect of ${operation} is not possible any more`
    log.warn(`client "${world.name}": ${what}: ${error.message}`)
    return false
  }
}
