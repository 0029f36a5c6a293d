import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../runtime/runtime.ts'
import type { Sandbox } from '../world/sandbox.ts'
import type { ClientResolver } from './clients.ts'

/** What the routes need of the sandbox that a request is for. All sandboxes of a process share the routes. */
export type AppDeps = {
  sandbox: Sandbox
  choice: ClientResolver
  log: Log
  isHostAllowed: (header: string) => boolean
  adminToken: string | undefined
  /** The headers of an error of the service to a page of this origin. */
  corsHeaders: ((origin: string | undefined) => object) | undefined
  /** Connections that a scenario leaves without a response. */
  hangingSockets: Set<Socket>
  /** The responses with an export that are being made or read. */
  exporting: Set<ServerResponse>
  /** Set for a call of a timeline; called when it took effect, or waits for the delay of a rule. */
  onHandled?: () => void
}

const DEPS = Symbol('the sandbox of the request')
type WithDeps = IncomingMessage & { [DEPS]?: AppDeps }

/** Sets the sandbox of a request, before the request is routed. */
export function setDeps(raw: IncomingMessage, deps: AppDeps): void {
  ;(raw as WithDeps)[DEPS] = deps
}

export const depsOf = ({ raw }: { raw: IncomingMessage }): AppDeps => (raw as WithDeps)[DEPS]!
