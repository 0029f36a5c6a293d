import type { Options } from '../config/options.ts'
import { BadFixtures } from '../content/fixtures.ts'
import { jsonLine, printableLine } from '../model/words.ts'
import { wallNow } from '../runtime/real-time.ts'
import { BadScenarios, type RunningServer, startServer, stderrLog } from '../server.ts'
import {
  DamagedFile,
  DataFileExists,
  EditedBesideJournal,
  FileInUse,
  LostOwnership,
  OtherFormat,
  UnusableFile,
} from '../store/errors.ts'
import { CommandFailed } from './command.ts'

// A clock that differs less than this from the wall clock is shown as real time.
const REAL_TIME_TOLERANCE_MS = 1_000

/** The sandbox cannot start: the message to print, and the exit code (docs/cli.md: Exit codes). */
const cannotStart = (message: string, exitCode: number) =>
  new CommandFailed(message, undefined, exitCode)

type ErrorClass = abstract new (...args: never[]) => Error

/** The exit code of each expected error, and its message with what to do. */
const EXPECTED: readonly (readonly [ErrorClass[], number, (message: string) => string])[] = [
  [
    [FileInUse, LostOwnership],
    3,
    (message) =>
      `${message}. Stop that process, or start with another --data FILE or with --memory.`,
  ],
  [
    [OtherFormat],
    4,
    (message) =>
      `${message}. Nothing was changed. Start with another --data FILE, or with --reset, which starts with a new file and keeps a backup.`,
  ],
  [
    [DataFileExists],
    2,
    (message) =>
      `${message}. Start with --memory, or with --reset, which replaces the data file and keeps a backup.`,
  ],
  [
    [DamagedFile, EditedBesideJournal],
    4,
    (message) =>
      `The data file cannot be read, and nothing was changed:\n${message}\nRepair it, or start with --reset, which starts with a new file and keeps backups.`,
  ],
  [[BadFixtures, BadScenarios], 2, String],
  [[UnusableFile], 5, (message) => `The data file cannot be used. ${message}.`],
]
const WRITE_ERRORS =
  'EACCES EPERM EROFS ENOTDIR EISDIR ENOSPC EEXIST ENOENT EIO EDQUOT ENAMETOOLONG EFBIG'.split(' ')

/** Turns an expected start error into a `CommandFailed`. Returns any other error unchanged: it is a bug. */
export function explainStartError(error: unknown, options: Options): Error & { exitCode?: number } {
  const { code, message, syscall } = error as NodeJS.ErrnoException
  const expected = EXPECTED.find(([classes]) => classes.some((one) => error instanceof one))
  if (expected) return cannotStart(expected[2](message), expected[1])
  const { port, host, data } = options
  if (code === 'EADDRINUSE')
    return cannotStart(
      `Port ${port} of ${host} is in use. Choose another one with --port, or --port 0 for a free one.`,
      6,
    )
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return cannotStart(`--host ${host} is not an address of this machine (${code}).`, 2)
  if (code === 'EACCES' && syscall === 'listen')
    return cannotStart(`This user may not listen on port ${port}. Choose a port above 1023.`, 6)
  if (code !== undefined && WRITE_ERRORS.includes(code))
    return cannotStart(
      `The data file ${data} cannot be written (${code}). Use --data FILE in a writable folder, or --memory.`,
      5,
    )
  return error as Error
}

/** The JSON line for a program that starts the sandbox. The URLs of a disabled admin API are null. */
function readyOf(server: RunningServer, options: Options) {
  const { url, docsUrl, token, adminToken, scenario, data } = server
  const hasAdmin = !options['no-admin']
  return {
    url,
    admin_url: hasAdmin ? server.adminUrl : null,
    docs_url: docsUrl,
    console_url: hasAdmin ? server.consoleUrl : null,
    token,
    ...(hasAdmin && adminToken !== undefined && { admin_token: adminToken }),
    scenario,
    data,
    pid: process.pid,
  }
}

function clockText({ clock }: RunningServer['sandbox']['default']): string {
  const { mode, speed } = clock.state
  const at = clock.iso().replace('.000Z', 'Z')
  const rate = `${speed} times real time`
  if (mode === 'frozen') return `frozen at ${at}${speed === 1 ? '' : `; ${rate} after resume`}`
  const isWall = Math.abs(clock.now() - wallNow()) < REAL_TIME_TOLERANCE_MS
  if (speed === 1) return isWall ? 'real time' : `real speed, from ${at}`
  return `${rate}, from ${at}`
}

function banner(ready: ReturnType<typeof readyOf>, server: RunningServer, options: Options) {
  const line = (name: string, value: string | null | false | undefined) =>
    value ? `  ${name.padEnd(12)} ${printableLine(value)}\n` : ''
  return (
    `payout-sandbox is ready. It moves no money. Do not enter real data.\n\n` +
    line('Service', ready.url) +
    line('Admin API', ready.admin_url) +
    line('Console', ready.console_url) +
    line('Docs', ready.docs_url) +
    line('Token', ready.token) +
    // A token that the user gave stays out of the logs of containers and CI.
    line('Admin token', options['admin-token'] === undefined && ready.admin_token) +
    line('Scenario', ready.scenario) +
    line('Clock', clockText(server.sandbox.default)) +
    line('Data', ready.data ?? 'in memory only') +
    line(
      '',
      server.hasOtherFixtures &&
        'created from other fixtures; payout-sandbox reset --all loads the new ones',
    )
  )
}

/** Starts a server. Throws an error with a message for users and an exit code if the start fails for a known reason. */
export async function startOrExplain(
  options: Options,
  how: Parameters<typeof startServer>[2] = {},
): Promise<RunningServer> {
  try {
    return await startServer(options, stderrLog(options), how)
  } catch (error) {
    throw explainStartError(error, options)
  }
}

type ServeOptions = { json: boolean; stopWithStdin: boolean }

/** Calls `onEnd` when standard input ends: when the program that holds its other end closes it, or is killed. */
function onEndOfStdin(onEnd: () => void) {
  process.stdin.on('error', () => {})
  // The end of a stream arrives only if somebody reads it; a file such as /dev/null ends without a close.
  process.stdin.once('end', onEnd).once('close', onEnd).resume()
}

/** Serves until a signal, or until standard input ends. Resolves with the exit code. */
export async function serve(options: Options, how: ServeOptions): Promise<number> {
  const server = await startOrExplain(options)
  const ready = readyOf(server, options)
  return new Promise((resolve, reject) => {
    let isStopping = false
    function stop() {
      if (isStopping) return
      isStopping = true
      // It would keep the process alive.
      if (how.stopWithStdin) process.stdin.destroy()
      server.close().then(() => resolve(0), reject)
    }
    // A closed terminal or a service manager sends SIGHUP; without a handler it would end the process immediately.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        // A second signal exits immediately.
        if (isStopping) process.exit(1)
        stop()
      })
    if (how.stopWithStdin) onEndOfStdin(stop)
    // Last, because a program that reads this line can send a signal immediately.
    process.stdout.write(how.json ? jsonLine(ready) : banner(ready, server, options))
  })
}
