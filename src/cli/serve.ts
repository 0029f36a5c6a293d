import type { Options } from '../config/options.ts'
import { DamagedFile } from '../core/checked-lines.ts'
import { wallNow } from '../core/clock.ts'
import { OtherFormat } from '../core/document.ts'
import { FileInUse } from '../core/lock.ts'
import { jsonLine, printableLine } from '../core/printable.ts'
import { RecordingError } from '../core/recorder.ts'
import { UnusableFile } from '../core/unusable-file.ts'
import { BadScenarios, type RunningServer, startServer, stderrLog } from '../server.ts'
import { BadFixtures } from '../services/fixture-problems.ts'

/** A start that can't be: what to print, and the exit code (docs/cli.md: Exit codes). */
class CannotStart extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}

// A client's clock that is nearer to the wall's than this shows real time.
const NEAR_MS = 1_000

const UNWRITABLE = [
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'EISDIR',
  'ENOSPC',
  'EEXIST',
  'ENOENT',
  'EIO',
  'EDQUOT',
  'ENAMETOOLONG',
  'EFBIG',
]

/** What went wrong at start, in words and an exit code; anything else is a fault of ours. */
function explained(error: unknown, options: Options): Error & { exitCode?: number } {
  const { code, message } = error as NodeJS.ErrnoException
  if (error instanceof FileInUse) {
    return new CannotStart(
      `${message}. Stop that one, or start with another --data FILE or --memory.`,
      3,
    )
  }
  if (error instanceof OtherFormat) {
    return new CannotStart(
      `The data file is of another version. ${message}. It is left as it is. To keep its content, start the version that wrote it, save GET /__admin/state of each client and PUT it here; else start with another --data FILE, or anew with --reset, which keeps a copy.`,
      4,
    )
  }
  if (error instanceof DamagedFile) {
    return new CannotStart(
      `The data file is damaged. ${message}. It is left as it is. --recover keeps what stands before the damage, --reset starts anew; both keep a copy.`,
      4,
    )
  }
  if (error instanceof BadFixtures || error instanceof BadScenarios)
    return new CannotStart(message, 2)
  if (error instanceof RecordingError) return new CannotStart(message, 5)
  if (error instanceof UnusableFile)
    return new CannotStart(`The data file cannot be used. ${message}.`, 5)
  if (code === 'EADDRINUSE') {
    return new CannotStart(
      `Port ${options.port} of ${options.host} is in use. Choose another with --port, or 0 for a free one.`,
      6,
    )
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new CannotStart(`--host ${options.host} is no address of this machine (${code}).`, 2)
  }
  if (code === 'EACCES' && (error as NodeJS.ErrnoException).syscall === 'listen') {
    return new CannotStart(
      `Port ${options.port} may not be opened by this user. Choose one above 1023.`,
      6,
    )
  }
  if (code !== undefined && UNWRITABLE.includes(code)) {
    return new CannotStart(
      `The data file ${options.data} cannot be written (${code}). Use --data FILE in a folder of yours, or --memory.`,
      5,
    )
  }
  return error as Error
}

/** What a program that started the sandbox wants to know; no address where nothing answers. */
function readyOf(server: RunningServer, options: Options) {
  const { url, docsUrl, token, adminToken, scenario, data } = server
  const served = !options['no-admin']
  return {
    url,
    admin_url: served ? server.adminUrl : null,
    docs_url: docsUrl,
    console_url: served ? server.consoleUrl : null,
    token,
    ...(served && adminToken !== undefined && { admin_token: adminToken }),
    scenario,
    data,
    pid: process.pid,
  }
}

/** The time that a client of the sandbox sees, and how fast it passes. */
function clockText({ clock }: RunningServer['sandbox']['default']): string {
  const { mode, speed } = clock.state
  const at = clock.iso().replace('.000Z', 'Z')
  const rate = `${speed} times as fast as real time`
  if (mode === 'frozen') return `frozen at ${at}${speed === 1 ? '' : `; once resumed, ${rate}`}`
  const isWall = Math.abs(clock.now() - wallNow()) < NEAR_MS
  if (speed === 1) return isWall ? 'real time' : `as fast as real time, from ${at}`
  return `${rate}, from ${at}`
}

function banner(ready: ReturnType<typeof readyOf>, server: RunningServer): string {
  const line = (name: string, value: string | null | false | undefined) =>
    value ? `  ${name.padEnd(12)} ${printableLine(value)}\n` : ''
  return (
    `payout-sandbox is ready. It moves no money; please put no real data in.\n\n` +
    line('Service', ready.url) +
    line('Admin API', ready.admin_url) +
    line('Console', ready.console_url) +
    line('Docs', ready.docs_url) +
    line('Token', ready.token) +
    line('Admin token', ready.admin_token) +
    line('Scenario', ready.scenario) +
    line('Clock', clockText(server.sandbox.default)) +
    line('Data', ready.data ?? 'kept in memory only') +
    line(
      '',
      server.hasOtherFixtures &&
        'made from other fixtures; payout-sandbox reset --all brings the new ones',
    )
  )
}

/** Starts a server of these options; what refuses it is told with the exit code that it has. */
export async function started(options: Options): Promise<RunningServer> {
  try {
    return await startServer(options, stderrLog(options))
  } catch (error) {
    throw explained(error, options)
  }
}

/** Serves until a signal asks it to stop; answers with the exit code. */
export async function serve(options: Options, json: boolean): Promise<number> {
  const server = await started(options)
  const ready = readyOf(server, options)
  return new Promise((resolve, reject) => {
    let asked = false
    const stop = () => {
      // A second signal means now.
      if (asked) process.exit(1)
      asked = true
      server.close().then(() => resolve(0), reject)
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
    // A closed terminal or a service manager says this; by itself it would end the process at once.
    process.on('SIGHUP', stop)
    // Last: whoever reads this may ask for a stop at once.
    process.stdout.write(json ? jsonLine(ready) : banner(ready, server))
  })
}
