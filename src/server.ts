import { randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { type Options, readOptions } from './config/options.ts'
import { PACKAGE_ROOT } from './config/package-root.ts'
import { wallNow } from './core/clock.ts'
import { shareDescriptors } from './core/descriptors.ts'
import { maxClientsOfHeap } from './core/heap.ts'
import { problemText } from './core/problem.ts'
import type { RequestObserver } from './core/recorder.ts'
import { hostNameOf } from './http/host-guard.ts'
import { listeningServers, unrefServer } from './http/listening.ts'
import { createLog } from './log.ts'
import { type Log, openSandbox, type Sandbox, type SandboxConfig } from './sandbox.ts'
import type { Library } from './scenarios/library.ts'
import { shippedLibrary } from './scenarios/shipped.ts'
import type { Watch } from './scenarios/watch-folders.ts'
import { type FixtureWorlds, readFixtures, shippedWorlds } from './services/fixtures.ts'

/** A sandbox that listens. */
export type RunningServer = {
  url: string
  adminUrl: string
  docsUrl: string
  consoleUrl: string
  token: string
  adminToken: string | undefined
  scenario: string
  data: string | null
  /** Whether the data file keeps what was made from other fixtures than these. */
  hasOtherFixtures: boolean
  app: FastifyInstance
  sandbox: Sandbox
  /** Stops: answers what is in flight, drops what is silent, leaves one tidy document. */
  close(): Promise<void>
}

// In-flight answers get this long to finish before silent sockets are cut, real ms.
const GRACE_MS = 3_000

const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)

function adminTokenOf(options: Options): string | undefined {
  const values = options['admin-token']
  if (values === 'none') return undefined
  if (values !== undefined) return values
  // Whoever reaches another address than loopback may be a stranger.
  return isLoopback(options.host) ? undefined : `sbx_admin_${randomBytes(16).toString('hex')}`
}

/** How many clients there may be: in a small heap fewer than the option says, since Node would abort at more. */
function maxClientsOf({ 'max-clients': wanted }: Options, log: Log): number {
  const safe = maxClientsOfHeap()
  if (wanted <= safe) return wanted
  log.warn(
    `The heap of this process is small, so at most ${safe} clients are possible instead of --max-clients ${wanted}. Give the process more memory (docs/container.md), or give Node a larger heap with NODE_OPTIONS=--max-old-space-size=MIB.`,
  )
  return safe
}

/** Scenario files that can't be used: one line a problem. */
export class BadScenarios extends Error {}

/** The folders that scenarios are read from, the one searched first in front. */
function foldersOf({ scenarios }: Pick<Options, 'scenarios'>): string[] {
  const shipped = join(PACKAGE_ROOT, 'scenarios')
  return scenarios === undefined ? [shipped] : [scenarios, shipped]
}

/** Reads the folders; without a problem there is a library. */
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

/** The scenarios of these options: the user's folder before the shipped set, which the build has read already. */
async function openLibrary(options: Options, log: Log): Promise<Library> {
  const { scenario, scenarios, watch } = options
  const built =
    scenarios === undefined && !watch
      ? shippedLibrary(join(PACKAGE_ROOT, 'dist/scenarios.json'))
      : undefined
  if (built?.get(scenario)) return built
  const read = await readFolders(options, log)
  if ('problems' in read) throw new BadScenarios(read.problems.join('\n'))
  return read.library
}

/** The fixtures of these options; the build has read the shipped set already. */
function openFixtures({ fixtures }: Options): FixtureWorlds {
  if (fixtures !== undefined) return readFixtures(fixtures)
  return (
    shippedWorlds(join(PACKAGE_ROOT, 'dist/fixtures.json')) ??
    readFixtures(join(PACKAGE_ROOT, 'fixtures'))
  )
}

/** Reads the scenario files again whenever they change; a bad edit keeps the last good set and is told. */
async function watchLibrary(options: Options, sandbox: Sandbox, log: Log): Promise<Watch> {
  const { watchFolders } = await import('./scenarios/watch-folders.ts')
  return watchFolders(foldersOf(options), async () => {
    try {
      const read = await readFolders(options, log)
      sandbox.changeLibrary(read)
      if ('library' in read) log.info(`${read.library.names.length} scenarios reloaded`)
      else
        for (const problem of [
          'scenario files rejected, the last valid set stays active:',
          ...read.problems,
        ])
          log.warn(problem)
    } catch (error) {
      log.error('The changed scenario files could not be reloaded', error)
    }
  })
}

/** The recording that these options ask for, if they do. */
async function openRecorder(options: Options, library: Library, log: Log) {
  const { record, fixtures = join(PACKAGE_ROOT, 'fixtures') } = options
  if (record === undefined) return undefined
  const { startRecorder } = await import('./replay/recording.ts')
  return startRecorder(record, options, fixtures, library, log)
}

/** What a sandbox is made of besides its options. */
type Content = Pick<
  SandboxConfig,
  'fixtures' | 'library' | 'recorder' | 'timerRan' | 'outside' | 'unref'
> & {
  file?: string | undefined
  watch?: RequestObserver | undefined
}

/** Opens the sandbox of these options, and the app in front of it that does not listen yet. */
export async function assemble(options: Options, content: Content, log: Log) {
  const { watch, file, ...parts } = content
  const { attempts, connections } = shareDescriptors()
  const sandbox = await openSandbox({
    ...parts,
    ...(file !== undefined && { file }),
    fsync: options.fsync,
    onDamage: options.recover ? 'recover' : options.reset ? 'reset' : 'refuse',
    start: {
      randomSeed: options['random-seed'],
      clock: options.clock,
      clockSpeed: options['clock-speed'],
      scenario: options.scenario,
    },
    maxClients: options['max-clients'],
    autoClients: !options['no-auto-clients'],
    webhooks: {
      allow: options['webhook-allow'],
      time: options['webhook-time'],
      retries: options['webhook-retries'],
    },
    maxAttempts: attempts,
    log,
  })
  const adminToken = adminTokenOf(options)
  const app = await buildApp(sandbox, {
    auth: options.auth,
    allowHost: [...options['allow-host'], hostNameOf(options.host)],
    adminToken,
    admin: !options['no-admin'],
    cors: options.cors,
    explain: options.explain,
    watch,
    maxConnections: connections,
    log,
  })
  return { sandbox, app, adminToken }
}

/**
 * Opens the sandbox of these options and listens. `unref`: the process does not stay alive for it. Throws what the
 * store, the fixtures or the port refuse.
 */
export async function startServer(
  given: Options,
  log: Log,
  { unref = false }: { unref?: boolean } = {},
): Promise<RunningServer> {
  // A token that is made here is needed to send the same calls again, and so is the limit that is in force.
  const options = {
    ...given,
    'admin-token': adminTokenOf(given) ?? 'none',
    'max-clients': maxClientsOf(given, log),
  }
  const file = options.memory ? undefined : options.data
  const library = await openLibrary(options, log)
  const fixtures = openFixtures(options)
  const recorder = await openRecorder(options, library, log)
  const { sandbox, app, adminToken } = await assemble(
    options,
    {
      fixtures,
      library,
      file,
      recorder,
      timerRan: recorder?.timerRan,
      watch: recorder?.calls,
      unref,
    },
    log,
  ).catch((error) => {
    recorder?.discard()
    throw error
  })
  try {
    await app.listen({ port: options.port, host: options.host })
  } catch (error) {
    recorder?.discard()
    await sandbox.close()
    throw error
  }
  const servers = listeningServers(app)
  if (unref) for (const server of servers) unrefServer(server)
  // What is printed is what is bound, not what was asked for.
  const { address, port, family } = app.server.address() as AddressInfo
  const hostText = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address
  const origin = `http://${family === 'IPv6' && hostText === address ? `[${hostText}]` : hostText}:${port}`
  const watch = options.watch ? await watchLibrary(options, sandbox, log) : undefined
  let closing: Promise<void> | undefined
  return {
    url: `${origin}/v1`,
    adminUrl: `${origin}/__admin`,
    docsUrl: `${origin}/docs`,
    consoleUrl: `${origin}/__admin/`,
    token: sandbox.default.profile().access_token,
    adminToken,
    scenario: sandbox.default.scenarios.describe().name,
    data: file ?? null,
    hasOtherFixtures: sandbox.hasOtherFixtures,
    app,
    sandbox,
    close() {
      closing ??= (async () => {
        watch?.close()
        // What a stop answers and breaks off is no part of the run.
        recorder?.close()
        // A delayed answer would wait for a clock that nobody moves any more, an advance for a silent receiver.
        sandbox.stop()
        const cut = setTimeout(() => {
          for (const server of servers) server.closeAllConnections()
        }, GRACE_MS)
        await app.close()
        clearTimeout(cut)
        await sandbox.close()
      })()
      return closing
    },
  }
}

/** Options of a program: those given, the defaults for the rest. */
export const optionsOf = (values: Readonly<Record<string, unknown>> = {}): Options =>
  readOptions([{ values, label: String, format: String }])

/** A log on standard error. */
export const stderrLog = (options: Pick<Options, 'log-level' | 'log-format'>): Log =>
  createLog({
    level: options['log-level'],
    format: options['log-format'] ?? (process.stderr.isTTY ? 'pretty' : 'json'),
    wall: wallNow,
    write: (line) => process.stderr.write(line),
  })
