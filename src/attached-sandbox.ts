import { type AdminClient, AdminError, createAdminClient } from './admin/admin-client.ts'
import { parseSandboxUrl } from './admin/caller.ts'
import { BadOption, type Options } from './config/options.ts'
import { nodeCrypto } from './runtime/node-modules.ts'
import { openOwnScenarios, stderrLog } from './server.ts'

/** The options of `startSandbox` that become fields of the call that creates the client. */
type Given = {
  scenario?: string
  scenarios?: string
  fixtures?: string
  randomSeed?: number
  clock?: string
  clockSpeed?: number
  state?: string | object
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
function checkOptions(given: Given, url: string) {
  const others = Object.entries(given)
    .filter(([name, value]) => value !== undefined && !APPLICABLE.includes(name))
    .map(([name]) => name)
  if (others.length === 0) return
  throw new BadOption(
    `startSandbox uses the sandbox of ${VARIABLE}, ${url}, so it cannot apply ${others.join(', ')}. Give such options to the command that starts that sandbox, or unset the variable.`,
  )
}

/** The content of fixtures, checked: a message names file and line of each problem. */
async function fixtureContentOf(path: string) {
  const { fixtureContent, readFixtures } = await import('./content/fixture-files.ts')
  readFixtures(path)
  return fixtureContent(path)
}

/** The body of the call that creates the client: only what was given, as the rest is that of the sandbox. */
async function newClientOf(given: Given, options: Options) {
  const { scenario, randomSeed, clock, clockSpeed, fixtures } = given
  const { assume } = options
  return {
    scenario,
    scenarios:
      given.scenarios === undefined
        ? undefined
        : await openOwnScenarios(options, stderrLog(options)),
    random_seed: randomSeed,
    clock,
    clock_speed: clockSpeed,
    assume: Object.keys(assume).length > 0 ? assume : undefined,
    fixtures: fixtures === undefined ? undefined : await fixtureContentOf(fixtures),
  }
}

type Content = { clock?: object; clients?: { default?: Content } }

/** The content of a state, or of a whole data file, with another speed of the clock: a frozen clock stays so. */
const withSpeed = (content: Content, speed: number): Content =>
  content.clients
    ? { ...content, clients: { default: withSpeed(content.clients.default ?? {}, speed) } }
    : { ...content, clock: { ...content.clock, speed } }

/** Replaces the state of the new client; its options replace what the state says, as at a start. */
async function putState({ state, reset }: AdminClient, content: Content, given: Given) {
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
export async function attachSandbox(given: Given, options: Options, env: NodeJS.ProcessEnv) {
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
