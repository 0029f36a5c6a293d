/// <reference lib="esnext.disposable" preserve="true" />
import { type AdminClient, createAdminClient } from './admin/admin-client.ts'
import { isUnderTestRunner } from './config/environment.ts'
import { BadOption } from './config/options.ts'
import { libraryOptions } from './config/read-options.ts'
import { startServer, stderrLog } from './server.ts'

export {
  type AdminClient,
  type AdminClientOptions,
  AdminError,
  type AdminErrorField,
  createAdminClient,
  type SandboxEvent,
} from './admin/admin-client.ts'

/** The options of `startSandbox`: those of `start` in camelCase, and `unref`. */
export type SandboxOptions = {
  /** Port to listen on (default: 0, a free port). */
  port?: number
  /** Address to listen on (default: 127.0.0.1). */
  host?: string
  /** Keep all state in memory and write no data file (default: true, unless `data` is given). */
  memory?: boolean
  /** File that stores the state. */
  data?: string
  /** Fsync every write before responding. */
  fsync?: boolean
  /** Replace a damaged or incompatible data file with a new one (a backup is kept). */
  reset?: boolean
  /** JSON file or folder with the initial data (default: the shipped fixtures). */
  fixtures?: string
  /** State to start from: a file of `state export`, a whole db.json, or the parsed content of one. */
  state?: string | object
  /** Scenario that is active at start (default: `default`). */
  scenario?: string
  /** Folder of scenario files, including subfolders; it takes precedence over the shipped scenarios. */
  scenarios?: string
  /** Reload scenario files when they change. */
  watch?: boolean
  /** Seed of random ids, UTRs, names and probabilities (default: 1). */
  randomSeed?: number
  /** Initial clock: `real` (default), `frozen`, or an ISO 8601 instant, which starts a frozen clock at that time. */
  clock?: string
  /** Clock speed multiplier; 60 = one simulated minute per second (default: 1). */
  clockSpeed?: number
  /** Readings of open points of the contract, by assumption (docs/assumptions.md), such as `{idempotency_key: 'honoured'}`. */
  assume?: Readonly<Record<string, string>>
  /** File of readings that `conform --save` has written; `assume` has priority over them. */
  assumeFile?: string
  /** Which calls need an access token: those of the contract (`spec`, default), all (`strict`), or none (`off`). */
  auth?: 'spec' | 'strict' | 'off'
  /** Token that the admin API requires, or `none` (default: none on a loopback host, otherwise generated). */
  adminToken?: string
  /** Disable the admin API, except health and ready: then the other calls of `admin` fail. */
  noAdmin?: boolean
  /** Origins whose browser apps may call `/v1`. */
  cors?: string | readonly string[]
  /** Additional Host header values to accept. */
  allowHost?: readonly string[]
  /** Public hosts to which webhooks may be sent. */
  webhookAllow?: readonly string[]
  /** Webhook retry schedule: all attempts within 2 minutes (`fast`, default), or within a day. */
  webhookRetries?: 'fast' | 'standard'
  /** Clock of the `webhook-timestamp` header: real time (`wall`, default), or the clock of the client. */
  webhookTime?: 'wall' | 'client'
  /** Maximum number of clients (default: 1000). */
  maxClients?: number
  /** Do not create clients on first use. */
  noAutoClients?: boolean
  /** Log level (default: `warn`); the log goes to standard error. */
  logLevel?: 'silent' | 'error' | 'warn' | 'info' | 'debug'
  /** Log format (default: `pretty` on a terminal, otherwise `json`). */
  logFormat?: 'pretty' | 'json'
  /** Watch what the callers meet, for `admin.coverage()`. */
  coverage?: boolean
  /** Add `X-Sandbox-Client` and `X-Sandbox-Rule` headers to responses. */
  explain?: boolean
  /**
   * Let the process exit while the sandbox is running, such as when a test fails before `close()`. Default: true in a
   * process of node --test, vitest, jest or tap, otherwise false.
   */
  unref?: boolean
}

/** A sandbox that runs in this process, or a client of its own in the sandbox of `PAYOUT_SANDBOX_URL`. */
export type RunningSandbox = {
  /** The base URL of the service; ends with `/v1`. */
  url: string
  /** The base URL of the admin API; ends with `/__admin`. */
  adminUrl: string
  /** The access token of the client. */
  token: string
  /** The token of the admin API, if it requires one. */
  adminToken: string | undefined
  /** An admin API client for the world of this client. */
  admin: AdminClient
  /**
   * Stops the sandbox, and resolves after its server and all its timers are closed; in the sandbox of
   * `PAYOUT_SANDBOX_URL` it deletes the client. A second call has no effect.
   */
  close(): Promise<void>
  /** Same as `close`, for `await using sandbox = await startSandbox()`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts a sandbox in this process, by default in memory and on a free port. A process can run many sandboxes. Rejects if
 * an option is unknown or invalid, and on every error for which `payout-sandbox start` exits with code 2 to 6
 * (docs/cli.md: Exit codes).
 *
 * If `PAYOUT_SANDBOX_URL` is set, as `exec` and `sweep` do, it starts none: it creates a client of its own in that sandbox.
 * An option that a client cannot have, such as `port` or `data`, is then an error.
 *
 * @example
 * const sandbox = await startSandbox({ clock: 'frozen' })
 * const response = await fetch(`${sandbox.url}/users`)
 * await sandbox.admin.clock.advance('2d')
 * await sandbox.close()
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`startSandbox takes an object of options, not ${String(options)}`)
  const { unref = isUnderTestRunner(process.env), ...startOptions } = options
  if (typeof unref !== 'boolean')
    throw new BadOption(`unref takes true or false, not ${JSON.stringify(unref)}`)
  const memory = startOptions.data === undefined
  const allOptions = libraryOptions(startOptions, { port: 0, logLevel: 'warn', memory })
  if (process.env['PAYOUT_SANDBOX_URL']) {
    const { attachSandbox } = await import('./attached-sandbox.ts')
    return attachSandbox(startOptions, allOptions, process.env)
  }
  const server = await startServer(allOptions, stderrLog(allOptions), { unref })
  const { url, adminUrl, token, adminToken, close } = server
  const admin = createAdminClient({ url: adminUrl, token: adminToken })
  return { url, adminUrl, token, adminToken, admin, close, [Symbol.asyncDispose]: close }
}
