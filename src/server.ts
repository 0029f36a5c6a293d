import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type AppOptions, buildApp } from './app.ts'
import type { Options } from './config/options.ts'
import { PACKAGE_ROOT } from './config/package.ts'
import { readOptions } from './config/read-options.ts'
import type { FixtureWorlds } from './content/fixtures.ts'
import { shippedFixtures } from './content/shipped-fixtures.ts'
import { hostNameOf } from './http/guards.ts'
import { parseDuration } from './model/duration.ts'
import { problemText } from './model/errors.ts'
import { maskLogText } from './model/mask.ts'
import { jsonLine, printable } from './model/words.ts'
import { runLate } from './routes/v1/operations.ts'
import { wallNow } from './runtime/real-time.ts'
import { type Log, nodeCrypto } from './runtime/runtime.ts'
import { type Library, shippedLibrary } from './scenarios/library.ts'
import { openSandbox, type Sandbox, type SandboxConfig } from './world/sandbox.ts'

// How long requests in flight may take before the remaining connections are closed, real ms.
const GRACE_MS = 3_000

// https://fetch.spec.whatwg.org/#bad-port
const BROWSERS_REFUSE = (
  '1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 ' +
  '139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 ' +
  '1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
).split(' ')

const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)

function adminTokenOf(options: Options): string | undefined {
  const given = options['admin-token']
  // Other machines can reach an address that is not loopback.
  if (given === undefined && !isLoopback(options.host))
    return `sbx_admin_${nodeCrypto().randomBytes(16).toString('hex')}`
  return given === 'none' ? undefined : given
}

/** Invalid scenario files; the message has one line per problem. */
export class BadScenarios extends Error {}

/** The folders of scenario files; the first one has priority. */
function foldersOf({ scenarios }: Pick<Options, 'scenarios'>): string[] {
  const shipped = join(PACKAGE_ROOT, 'scenarios')
  if (scenarios === undefined) return [shipped]
  // The files of this folder need a folder in front: a name alone is a shipped scenario.
  return [resolve(scenarios) === process.cwd() ? process.cwd() : scenarios, shipped]
}

/** Reads the folders; returns the library, or the problems of the files. */
async function readFolders(
  options: Pick<Options, 'scenario' | 'scenarios'>,
  log: Log,
): Promise<{ library: Library } | { problems: string[] }> {
  const { scenario, scenarios } = options
  const { readLibrary } = await import('./scenarios/read-library.ts')
  if (scenarios !== undefined && !(existsSync(scenarios) && statSync(scenarios).isDirectory()))
    return { problems: [`--scenarios: there is no folder ${scenarios}`] }
  const read = readLibrary(foldersOf(options))
  for (const warning of read.warnings) log.warn(problemText(warning))
  if (!read.ok) return { problems: read.problems.map(problemText) }
  if (!read.library.get(scenario))
    return { problems: [`--scenario: ${read.library.unknown(scenario)}`] }
  return { library: read.library }
}

/** The user's own scenarios of these options, by name. Throws `BadScenarios`. */
export async function openOwnScenarios(options: Pick<Options, 'scenario' | 'scenarios'>, log: Log) {
  const read = await readFolders(options, log)
  if ('problems' in read) throw new BadScenarios(read.problems.join('\n'))
  const { names, get, fileOf } = read.library
  const isOwn = (name: string) => !fileOf(name)!.startsWith(join(PACKAGE_ROOT, 'scenarios'))
  return Object.fromEntries(names.filter(isOwn).map((name) => [name, get(name)!.definition]))
}

/** The library of these options: the user's folder has priority over the shipped scenarios, which the build has compiled. */
async function openLibrary(options: Options, log: Log): Promise<Library> {
  const { scenario, scenarios, watch } = options
  const isShipped = scenarios === undefined && !watch
  const built = isShipped && shippedLibrary(join(PACKAGE_ROOT, 'dist/scenarios.json'))
  if (built && built.get(scenario) !== undefined) return built
  const read = await readFolders(options, log)
  if ('problems' in read) throw new BadScenarios(read.problems.join('\n'))
  return read.library
}

/** The fixtures of these options, with the clients of --state in place of theirs. */
async function openStart(options: Options, library: Library): Promise<FixtureWorlds> {
  const { state } = options
  const fixtures =
    options.fixtures === undefined
      ? await shippedFixtures()
      : (await import('./content/fixture-files.ts')).readFixtures(options.fixtures)
  if (state === undefined) return fixtures
  const { readStates } = await import('./content/state-file.ts')
  return new Map([...fixtures, ...(await readStates(state, { fixtures, library }))])
}

/** Reloads the scenario files when they change; after an invalid edit the last valid library stays active. */
async function watchLibrary(options: Options, known: string, sandbox: Sandbox, log: Log) {
  const { watchFolders } = await import('./scenarios/scenario-files.ts')
  const reload = async () => {
    try {
      const read = await readFolders(options, log)
      sandbox.changeLibrary(read)
      if ('library' in read) return log.info(`${read.library.names.length} scenarios reloaded`)
      log.warn('scenario files rejected, the last valid set stays active:')
      for (const problem of read.problems) log.warn(problem)
    } catch (error) {
      log.error('The changed scenario files could not be reloaded', error)
    }
  }
  return watchFolders(foldersOf(options), reload, known)
}

/** Reads what a sandbox of these options starts with, for servers that share it. */
export async function openContent(options: Options, log: Log) {
  const library = await openLibrary(options, log)
  return { library, fixtures: await openStart(options, library) }
}

/** What a sandbox takes besides its options. `unref`: it doesn't keep the process alive. */
type Given = Partial<
  Pick<SandboxConfig, 'fixtures' | 'library' | 'imposes' | 'worldOpened' | 'unref'> &
    Pick<AppOptions, 'middleware'>
>

/** Collects what callers meet; it is loaded only for a sandbox that does so, and the report when it is wanted. */
export async function createCoverage(): Promise<NonNullable<SandboxConfig['coverage']>> {
  const { Collector } = await import('./tools/coverage/collector.ts')
  const collector = new Collector()
  const report = async () => (await import('./tools/coverage/report.ts')).coverageOf(collector.seen)
  return Object.assign(collector, { report })
}

// What few calls need is loaded when it's wanted.
export const summaryOf: SandboxConfig['summaryOf'] = async (world, between) =>
  (await import('./tools/summary.ts')).summaryOf(world, between)
export const reconcile: SandboxConfig['reconcile'] = async (...books) =>
  (await import('./tools/reconcile.ts')).reconcile(...books)
export const harOf: SandboxConfig['harOf'] = async (calls) =>
  (await import('./tools/har.ts')).harOf(calls)

/** Opens the sandbox of these options, and its app, which does not listen yet. */
async function assemble(options: Options, given: Given, log: Log) {
  const library = given.library ?? (await openLibrary(options, log))
  const fixtures = given.fixtures ?? (await openStart(options, library))
  const coverage = options.coverage ? await createCoverage() : undefined
  const opening = openSandbox({
    ...given,
    library,
    fixtures,
    coverage,
    summaryOf,
    reconcile,
    harOf,
    ...(!options.memory && { file: options.data }),
    fsync: options.fsync,
    mustBeNew: options.state !== undefined,
    reset: options.reset,
    start: {
      randomSeed: options['random-seed'],
      clock: options.clock,
      clockSpeed: options['clock-speed'],
      scenario: options.scenario,
      assume: options.assume,
    },
    runLate,
    callService: async (world, call) => (await building).callService(world, call),
    maxClients: options['max-clients'],
    autoClients: !options['no-auto-clients'],
    webhooks: {
      allow: options['webhook-allow'],
      time: options['webhook-time'],
      retries: options['webhook-retries'],
    },
    log,
  })
  const adminToken = adminTokenOf(options)
  const appOptions = {
    allowHost: [...options['allow-host'], hostNameOf(options.host)],
    adminToken,
    admin: !options['no-admin'],
    cors: options.cors,
    explain: options.explain,
    middleware: given.middleware,
    log,
  }
  const building = opening.then((opened) => buildApp(opened, appOptions))
  const [sandbox, app] = await Promise.all([opening, building])
  return { sandbox, app, adminToken, library }
}

/** Opens the sandbox of these options and listens. Throws the errors of the store, the scenarios, the fixtures and the port. */
export async function startServer(options: Options, log: Log, given: Given = {}) {
  // Before they are read: an edit during the start is a change.
  const known = options.watch
    ? (await import('./scenarios/scenario-files.ts')).stateOfAll(foldersOf(options))
    : undefined
  const { sandbox, app, adminToken, library } = await assemble(options, given, log)
  let origin: string
  try {
    origin = await app.listen({ port: options.port, host: options.host })
    const { fast_forward: span } = library.get(options.scenario)?.definition ?? {}
    const { clock } = sandbox.default
    if (span !== undefined && !clock.isContinued)
      await clock.timers.advanceBy(parseDuration(span)!, { persist: () => clock.persistNow() })
  } catch (error) {
    await app.close()
    await sandbox.close()
    throw error
  }
  const { port } = new URL(origin)
  if (BROWSERS_REFUSE.includes(port))
    log.warn(
      `Browsers and fetch refuse port ${port} as a bad port. Choose another one with --port.`,
    )
  if (given.unref) app.unref()
  const watch = known === undefined ? undefined : await watchLibrary(options, known, sandbox, log)
  let closing: Promise<void> | undefined
  return {
    url: `${origin}/v1`,
    adminUrl: `${origin}/__admin`,
    docsUrl: `${origin}/docs`,
    consoleUrl: `${origin}/__admin/`,
    token: sandbox.default.payouts.profile().access_token,
    adminToken,
    scenario: sandbox.default.scenarios.name,
    data: options.memory ? null : options.data,
    /** Whether the data file has clients that were created from other fixtures. */
    hasOtherFixtures: sandbox.hasOtherFixtures,
    app,
    sandbox,
    /** Stops: finishes requests in flight, closes idle connections, and compacts the data file. */
    close(): Promise<void> {
      closing ??= (async () => {
        watch?.close()
        // Otherwise delayed responses would wait, and an advance for a silent receiver.
        sandbox.stop()
        const cut = setTimeout(app.closeAllConnections, GRACE_MS)
        await app.close()
        clearTimeout(cut)
        await sandbox.close()
      })()
      return closing
    },
  }
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>

/** The options of a program, with defaults for missing ones. */
export const optionsOf = (values: Readonly<Record<string, unknown>> = {}): Options =>
  readOptions([{ values, label: String }])

const LEVELS = ['silent', 'error', 'warn', 'info'] as const

/** Creates a log of lines such as `12:30:05 warn  message`, or of JSON objects; numbers in messages are masked. */
export function createLog(options: {
  level: (typeof LEVELS)[number]
  format: 'pretty' | 'json'
  wall: () => number
  write: (line: string) => void
}): Log {
  const maxLevel = LEVELS.indexOf(options.level)
  function at(level: keyof Log) {
    if (LEVELS.indexOf(level) > maxLevel) return () => {}
    return (message: string, error?: unknown) => {
      const time = new Date(options.wall()).toISOString()
      const text = maskLogText(message)
      const cause =
        error === undefined ? undefined : maskLogText((error as Error)?.stack ?? String(error))
      const line = `${time.slice(11, 19)} ${level.padEnd(5)} ${text}${cause ? `\n${cause}` : ''}\n`
      const json = { time, level, message: text, error: cause }
      options.write(options.format === 'json' ? jsonLine(json) : printable(line))
    }
  }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

export const stderrLog = (options: Pick<Options, 'log-level' | 'log-format'>): Log =>
  createLog({
    level: options['log-level'],
    format: options['log-format'] ?? (process.stderr.isTTY ? 'pretty' : 'json'),
    wall: wallNow,
    write: (line) => process.stderr.write(line),
  })
