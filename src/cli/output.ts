import { closeSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { isStream, openInPlace, removeFile } from '../config/files.ts'
import { printableLine } from '../model/words.ts'
import { prepareReport, REPORT_FILES, type Report, writeReport } from '../tools/report/report.ts'
import { type Command, CommandFailed, type Input, type Output } from './command.ts'

// The errors of a write whose reader is gone: the first two for pipes and sockets, the last one for a terminal.
const READER_GONE_CODES = ['EPIPE', 'ECONNRESET', 'EIO']

const isReaderGone = (error: unknown): boolean =>
  READER_GONE_CODES.includes((error as NodeJS.ErrnoException).code ?? '')

const isWhole = (output: Output): output is string | Buffer =>
  typeof output === 'string' || Buffer.isBuffer(output)

/** Ignores write errors after the reader of the output is gone; any other one, such as a full disk, ends the program with 1. */
export function ignoreGoneReaders({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>) {
  stdout.on('error', (error) => {
    if (isReaderGone(error)) return
    const { code, message } = error as NodeJS.ErrnoException
    note(`the output cannot be written (${code ?? message}). Free disk space, or write elsewhere.`)
    process.exit(1)
  })
  // An error of the log itself cannot be logged.
  stderr.on('error', () => {})
}

/** Prints the output of a command, no faster than its reader takes it. Returns the exit code. */
export async function print(output: Output): Promise<number> {
  if (isWhole(output)) process.stdout.write(output)
  else {
    const [{ Readable }, { pipeline }] = await Promise.all([
      import('node:stream'),
      import('node:stream/promises'),
    ])
    await pipeline(Readable.from(output), process.stdout, { end: false }).catch((error) => {
      if (!isReaderGone(error)) throw error
    })
  }
  return 0
}

/** Prints a line to standard error, beside the result of a command. */
export const note = (text: string) =>
  process.stderr.write(`${printableLine(`payout-sandbox: ${text}`)}\n`)

/** Goes to the start of a line of a terminal, and clears it. */
export const CLEAR = '\r\u001b[K'

/** Shows where the clock stands while a call has no response yet: in a terminal always, elsewhere a line a minute. */
export function clockProgress() {
  const { stderr } = process
  return {
    lateMs: stderr.isTTY ? 1_000 : 60_000,
    onLate(now: string) {
      if (stderr.isTTY) stderr.write(`${CLEAR}The clock is at ${printableLine(now)}`)
      else note(`the call goes on; the clock is at ${now}`)
    },
    end() {
      if (stderr.isTTY) stderr.write(CLEAR)
    },
  }
}

const drafts = new Set<string>()

/** Removes the drafts of files that were not saved, at the end of a command. */
export function discardDrafts() {
  for (const draft of drafts) removeFile(draft)
}

/** Opens a file before the work is done, and returns what saves it; until then, an existing one stays as it was. Throws `CommandFailed`. */
export function prepareFile(label: string, file: string, mode = 0o666) {
  const attempt = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new CommandFailed(
        `${label} ${file} cannot be written (${code}). Use a file in a folder that exists and that you can write to.`,
      )
    }
  }
  // A device such as /dev/stdout has no draft beside it.
  const draft = attempt(() => (isStream(file) ? file : `${file}.${process.pid}.tmp`))
  const fd = attempt(() => (draft === file ? openSync(file, 'w') : openInPlace(draft, mode)))
  if (draft !== file) drafts.add(draft)
  return (output: Output) =>
    attempt(() => {
      for (const piece of isWhole(output) ? [output] : output) writeFileSync(fd, piece)
      closeSync(fd)
      if (draft !== file) renameSync(draft, file)
    })
}

export const REPORT_FLAG = {
  report: ['DIR', 'folder for junit.xml and summary.md; those of an earlier report are replaced'],
} as const satisfies Command['flags']

/** Makes the folder of `--report`, and returns what writes a report there, if anything. Throws `BadOption` if it can't be written. */
export function openReport(
  { report }: Input['flags'],
  more: readonly string[] = [],
): (report: Report, files?: Readonly<Record<string, string>>) => void {
  if (report === undefined) return () => {}
  const dir = String(report)
  prepareReport(dir, [...REPORT_FILES, ...more])
  return (written, files) => {
    try {
      writeReport(dir, written, files)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      note(
        `the report in ${dir} could not be written (${code ?? message}); the exit code is that without a report`,
      )
    }
  }
}
