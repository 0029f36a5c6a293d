import { optionsOf, startServer, stderrLog } from './server.ts'

/** What `startSandbox` takes: the options of `start`, in camelCase. */
export type SandboxOptions = {
  /** 0, the default here, is a free port. */
  port?: number
  host?: string
  /** Where state is kept; without it nothing is. */
  data?: string
  fixtures?: string
  /** The scenario at start, and a folder that is searched before the shipped ones; `watch` reads it again on a change. */
  scenario?: string
  scenarios?: string
  watch?: boolean
  randomSeed?: number
  /** `real`, `frozen`, or an ISO 8601 instant to start from, frozen. */
  clock?: string
  clockSpeed?: number
  auth?: 'spec' | 'strict' | 'off'
  /** Public hosts that webhooks may go to. */
  webhookAllow?: readonly string[]
  /** When webhook attempts are made: within 2 minutes, or within a day. */
  webhookRetries?: 'fast' | 'standard'
  /** Whose clock `webhook-timestamp` shows. */
  webhookTime?: 'wall' | 'client'
  logLevel?: 'silent' | 'error' | 'warn' | 'info' | 'debug'
  /** The default where `data` is not given. */
  memory?: boolean
}

/** A sandbox that runs in this process. */
export type RunningSandbox = {
  /** Ends in `/v1`. */
  url: string
  /** Ends in `/__admin`. */
  adminUrl: string
  /** The default client's access token. */
  token: string
  close(): Promise<void>
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/**
 * Starts a sandbox in this process, in memory and on a free port unless told otherwise. Refuses options it does not
 * know with a message that names the option (admin API: Options of `start`).
 *
 * @example
 * const sandbox = await startSandbox({ clock: 'frozen' })
 * const answer = await fetch(`${sandbox.url}/users`)
 * await sandbox.close()
 */
export async function startSandbox(given: SandboxOptions = {}): Promise<RunningSandbox> {
  const memory = given.memory ?? given.data === undefined
  const values = { port: 0, logLevel: 'warn', ...given, memory }
  const options = optionsOf(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [kebab(name), value])),
  )
  const { url, adminUrl, token, close } = await startServer(options, stderrLog(options))
  return { url, adminUrl, token, close }
}
