import { DelayedResponses } from '../requests/delayed-responses.ts'
import { RequestLog } from '../requests/request-log.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { type Access, createAccess } from './access.ts'
import type { Feed } from './feed.ts'
import type { WorldDeps } from './world-deps.ts'

/** The calls of one client: which it may make, those that wait for a delayed response, and the log of the others. */
export class WorldRequests extends RequestLog {
  readonly access: Access
  readonly delayed: DelayedResponses

  constructor(context: WorldContext, { tables, shared }: WorldDeps, feed: Feed) {
    const { logBudget, allRequests, runtime } = shared
    super({
      budget: logBudget,
      addToAll: (call, era) => allRequests.add(tables.name, call, era),
      runtime,
      onLogged: (entry) => feed.publish('request', entry),
    })
    this.access = createAccess(context)
    this.delayed = new DelayedResponses(runtime, (count) => feed.publish('waiting', { count }))
  }
}
