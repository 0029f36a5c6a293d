/// <reference lib="esnext.disposable" preserve="true" />
import { type AdminClient, createAdminClient } from './admin-client.ts'
import { libraryOptions } from './config/library-options.ts'
import { BadOption } from './config/options.ts'
import { isUnderTestRunner } from './config/test-runner.ts'
import { startServer, stderrLog } from './server.ts'

export {
  type AdminClient,
  type AdminClientOptions,
  AdminError,
  type AdminErrorField,
  createAdminClient,
  type SandboxEvent,
} from './admin-client.ts'

/** What `startSandbox` takes: the options of `start` in camelCase, and `unref`. */
export type SandboxOptions = {
  /** 0, the default here, is a free port. */
  port?: number
  host?: string
  /** The default where `data` is not given: no state is kept. */
  memory?: boolean
  /** The file that state is kept in. */
  data?: string
  /** Answer a change only once the disk has it. */
  fsync?: boolean
  /** Of a damaged data file keep what is good; a copy is kept. */
  recover?: boolean
  /** In place of a damaged data file start anew; a copy is kept. */
  reset?: boolean
  /** A file or folder of JSON; the shipped set if not told. */
  fixtures?: string
  /** The scenario at start. */
  scenario?: string
  /** A folder of scenario files that is searched before the shipped ones. */
  scenarios?: string
  /** Read the scenario files again when they change. */
  watch?: boolean
  /** Seed of ids, UTRs, chances and names. */
  randomSeed?: number
  /** `real`, `frozen`, or an ISO 8601 instant to start from, frozen. */
  clock?: string
  /** Client seconds a real second. */
  clockSpeed?: number
  /** Which calls need a token. */
  auth?: 'spec' | 'strict' | 'off'
  /** The token that the admin API wants, or `none`. */
  adminToken?: string
  /** Serve no admin API: then `admin` finds none. */
  noAdmin?: boolean
  /** An origin whose browser apps may call `/v1`. */
  cors?: string
  /** Further Host names to answer to. */
  allowHost?: readonly string[]
  /** Public hosts that webhooks may go to. */
  webhookAllow?: readonly string[]
  /** When webhook attempts are made: within 2 minutes, or within a day. */
  webhookRetries?: 'fast' | 'standard'
  /** Whose clock `webhook-timestamp` shows. */
  webhookTime?: 'wall' | 'client'
  /** How many clients there may be. */
  maxClients?: number
  /** A new name in a base path makes no client. */
  noAutoClients?: boolean
  /** What is logged, on standard error; `warn` here. */
  logLevel?: 'silent' | 'error' | 'warn' | 'info' | 'debug'
  logFormat?: 'pretty' | 'json'
  /** A file to keep the run in, for `payout-sandbox replay`. */
  record?: string
  /** Answers carry `X-Sandbox-Client` and `X-Sandbox-Rule`. */
  explain?: boolean
  /**
   * The process may end though the sandbox still runs, as when a test fails before `close()`. Default: true in a
   * process of node --test, vitest, jest or tap, else false.
   */
  unref?: boolean
}

/** A sandbox that runs in this process. */
export type RunningSandbox = {
  /** Ends in `/v1`. */
  url: string
  /** Ends in `/__admin`. */
  adminUrl: string
  /** The default client's access token. */
  token: string
  /** The token of the admin API, where it wants one. */
  adminToken: string | undefined
  /** A client of the admin API, for the default client's world. */
  admin: AdminClient
  /** Stops; what listens and what is timed is gone when it answers. A second call changes nothing. */
  close(): Promise<void>
  /** The same, for `await using sandbox = await startSandbox()`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts a sandbox in this process, in memory and on a free port unless told otherwise; there may be many at once. It
 * throws where an option is not known or not usable, and what a start on the command line ends with 2 to 6 for
 * (docs/cli.md: Exit codes).
 *
 * @example
 * const sandbox = await startSandbox({ clock: 'frozen' })
 * const answer = await fetch(`${sandbox.url}/users`)
 * await sandbox.admin.clock.advance('2d')
 * await sandbox.close()
 */
export async function startSandbox(given: SandboxOptions = {}): Promise<RunningSandbox> {
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`startSandbox takes an object of options, not ${String(given)}`)
  const { unref = isUnderTestRunner(process.env), ...start } = given
  if (typeof unref !== 'boolean')
    throw new BadOption(`unref takes true or false, not ${JSON.stringify(unref)}`)
  const memory = start.data === undefined
  const options = libraryOptions(start, { port: 0, logLevel: 'warn', memory })
  const server = await startServer(options, stderrLog(options), { unref })
  const { url, adminUrl, token, adminToken, close } = server
  const admin = createAdminClient({ url: adminUrl, token: adminToken })
  return { url, adminUrl, token, adminToken, admin, close, [Symbol.asyncDispose]: close }
}
