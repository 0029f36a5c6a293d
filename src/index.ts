/// <reference lib="esnext.disposable" preserve="true" />
import { type AdminClient, AdminError, createAdminClient } from './admin/admin-client.ts'
import { parseSandboxUrl } from './admin/caller.ts'
import { isUnderTestRunner } from './config/environment.ts'
import { BadOption, type Options } from './config/options.ts'
import { libraryOptions } from './config/read-options.ts'
import { nodeCrypto } from './runtime/runtime.ts'
import { openOwnScenarios, startServer, stderrLog } from './server.ts'

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
  logLevel?: 'silent' | 'error' | 'warn' | 'info'
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

// The last two are about what is logged here: problems of the scenario files.
const APPLICABLE: readonly string[] = [
  ...['scenario', 'scenarios', 'fixtures', 'randomSeed', 'clock', 'clockSpeed', 'state'],
  ...['assume', 'assumeFile', 'auth'],
  ...['logLevel', 'logFormat'],
]

const VARIABLE = 'PAYOUT_SANDBOX_URL'

/** The root of the sandbox that the variable names, without a client. */
function rootOf(text: string): string {
  const url = parseSandboxUrl(text)
  if (url && /^\/(?:@[^/]+)?$/.test(url.pathname)) return url.origin
  throw new BadOption(
    `${VARIABLE} takes the URL of a sandbox such as http://127.0.0.1:4310, not ${JSON.stringify(text)}`,
  )
}

/** Throws if an option is one of a server. */
function checkOptions(given: SandboxOptions, url: string) {
  const others = Object.entries(given)
    .filter(([name, value]) => value !== undefined && !APPLICABLE.includes(name))
    .map(([name]) => name)
  if (others.length === 0) return
  throw new BadOption(
    `startSandbox uses the sandbox of ${VARIABLE}, ${url}, so it cannot apply ${others.join(', ')}. Give such options to the command that starts that sandbox, or unset the variable.`,
  )
}

/** The content of fixtures, checked: a message names file and line of each problem. */
async function fixtureContentOf(path: string | undefined) {
  if (path === undefined) return undefined
  const { fixtureContent, readFixtures } = await import('./content/fixture-files.ts')
  readFixtures(path)
  return fixtureContent(path)
}

/** The body of the call that creates the client: only what was given, as the rest is that of the sandbox. */
async function newClientOf(given: SandboxOptions, options: Options) {
  const { scenario, scenarios, randomSeed, clock, clockSpeed, fixtures } = given
  const { assume } = options
  return {
    scenario,
    scenarios:
      scenarios === undefined ? undefined : await openOwnScenarios(options, stderrLog(options)),
    random_seed: randomSeed,
    clock,
    clock_speed: clockSpeed,
    assume: Object.keys(assume).length > 0 ? assume : undefined,
    fixtures: await fixtureContentOf(fixtures),
  }
}

type Content = { clock?: object; clients?: { default?: Content } }

/** The content of a state, or of a whole data file, with another speed of the clock: a frozen clock stays so. */
const withSpeed = (content: Content, speed: number): Content =>
  content.clients
    ? { ...content, clients: { default: withSpeed(content.clients.default ?? {}, speed) } }
    : { ...content, clock: { ...content.clock, speed } }

/** Replaces the state of the new client; its options replace what the state says, as at a start. */
async function putState({ state, reset }: AdminClient, content: Content, given: SandboxOptions) {
  const { clockSpeed } = given
  await state.put((clockSpeed === undefined ? content : withSpeed(content, clockSpeed)) as never)
  const parts = (['clock', 'scenario'] as const).filter((part) => given[part] !== undefined)
  if (parts.length > 0) await reset({ parts })
}

const stateContentOf = async (state: string | object) =>
  (await import('./content/state-file.ts')).stateContent(state) as Promise<Content>

/** The error of a client that could not be created: it says where the address comes from, and what to do. */
function explain(error: unknown): unknown {
  if (!(error instanceof AdminError)) return error
  const { status, code, errors, cause } = error
  const advice =
    status === 0
      ? ' Start it, or unset the variable to start one here.'
      : code === 'admin_token_required'
        ? ' Set PAYOUT_SANDBOX_ADMIN_TOKEN.'
        : ''
  const message = `startSandbox cannot use the sandbox of ${VARIABLE}: ${error.message}${advice}`
  return new AdminError(status, code, message, { errors, cause })
}

/** Creates a client of its own in the sandbox of PAYOUT_SANDBOX_URL; its name is random, so that parallel tests share nothing. */
async function attachSandbox(given: SandboxOptions, options: Options, env: NodeJS.ProcessEnv) {
  const root = rootOf(env[VARIABLE]!)
  checkOptions(given, root)
  const adminToken = env['PAYOUT_SANDBOX_ADMIN_TOKEN'] || undefined
  const name = `test-${nodeCrypto().randomBytes(6).toString('hex')}`
  const token = `sbx_${name}`
  const { clients, forClient } = createAdminClient({ url: root, token: adminToken })
  const body = await newClientOf(given, options)
  const state = given.state === undefined ? undefined : await stateContentOf(given.state)
  try {
    await clients.create({ name, access_token: token, ...body })
  } catch (error) {
    throw explain(error)
  }
  if (state !== undefined)
    await putState(forClient(name), state, given).catch(async (error) => {
      await clients.delete(name)
      throw explain(error)
    })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= clients.delete(name).then(() => {})
    return closing
  }
  return {
    url: `${root}/@${name}/v1`,
    adminUrl: `${root}/@${name}/__admin`,
    token,
    adminToken,
    admin: forClient(name),
    close,
    [Symbol.asyncDispose]: close,
  }
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
  if (process.env[VARIABLE]) return attachSandbox(startOptions, allOptions, process.env)
  const server = await startServer(allOptions, stderrLog(allOptions), { unref })
  const { url, adminUrl, token, adminToken, close } = server
  const admin = createAdminClient({ url: adminUrl, token: adminToken })
  return { url, adminUrl, token, adminToken, admin, close, [Symbol.asyncDispose]: close }
}
