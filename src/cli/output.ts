import { closeSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { styleText } from 'node:util'
import { isStream, openInPlace, removeFile } from '../config/output-file.ts'
import { printableLine } from '../model/words.ts'
import { prepareReport, type Report, writeReport } from '../tools/report/report.ts'
import { type Command, CommandFailed, type Input } from './command.ts'

// The errors of a write whose reader is gone: the first two for pipes and sockets, the last one for a terminal.
const READER_GONE_CODES = ['EPIPE', 'ECONNRESET', 'EIO']

/** Whether a write failed because nobody reads the output any more. */
export const isReaderGone = (error: unknown): boolean =>
  READER_GONE_CODES.includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * Ignores write errors after the reader of the output is gone: a server continues to serve, and a command exits with the
 * code of its result.
 */
export function ignoreGoneReaders({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>) {
  stdout.on('error', (error) => {
    if (!isReaderGone(error)) throw error
  })
  // An error of the log itself cannot be logged.
  stderr.on('error', () => {})
}

type Style = Parameters<typeof styleText>[0]

/** Whether to colour the output of a stream: only on a terminal; `NO_COLOR` disables it, `FORCE_COLOR` enables it anywhere. */
export function supportsColour(
  stream: { isTTY?: boolean },
  { NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv,
): boolean {
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0'
  return stream.isTTY === true && TERM !== 'dumb'
}

/** Colours a string if stdout supports colours. */
export const coloured = (style: Style, text: string): string =>
  supportsColour(process.stdout, process.env) ? styleText(style, text, ...NO_STREAM_CHECK) : text

// Newer versions of Node also check the stream; `supportsColour` has already done it.
const NO_STREAM_CHECK = [{ validateStream: false }] as unknown as []

const STATUS_STYLES: Readonly<Record<string, Style>> = {
  success: 'green',
  delivered: 'green',
  met: 'green',
  pending: 'yellow',
  failed: 'red',
  'not met': 'red',
  broken: 'red',
  dropped: 'red',
  cancelled: 'red',
  error: 'red',
  warning: 'yellow',
}

/** The style of a table cell: by its status word, or red for the HTTP status of an error. */
export function styleOf(cell: string, column: string): Style | undefined {
  if (column === 'status' && /^[45]\d\d$/.test(cell)) return 'red'
  return Object.hasOwn(STATUS_STYLES, cell.toLowerCase())
    ? STATUS_STYLES[cell.toLowerCase()]
    : undefined
}

/** A value on one line, without control characters; `-` for null and undefined. */
export const oneLine = (value: unknown): string =>
  value === null || value === undefined ? '-' : printableLine(String(value))

/** Prints a line to standard error, beside the result of a command. */
export const note = (text: string) =>
  process.stderr.write(`${printableLine(`payout-sandbox: ${text}`)}\n`)

/** Lines with aligned columns; `paint` may style a cell, which does not change its width. */
export function aligned(
  rows: readonly (readonly string[])[],
  paint: (cell: string, row: number, column: number) => string = (cell) => cell,
): string {
  const widths = rows[0]!.map((_, i) => rows.reduce((max, row) => Math.max(max, row[i]!.length), 0))
  const lines = rows.map((row, at) =>
    row.map((cell, i) => paint(cell, at, i) + ' '.repeat(widths[i]! - cell.length)).join('  '),
  )
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** Formats rows as a table with aligned columns; returns `emptyText` if there are none. */
export function table(
  head: readonly string[],
  rows: readonly (readonly unknown[])[],
  emptyText: string,
): string {
  if (rows.length === 0) return `${emptyText}\n`
  return aligned([head, ...rows.map((row) => row.map(oneLine))], (cell, row, column) => {
    const style = row === 0 ? 'bold' : styleOf(cell, head[column]!)
    return style ? coloured(style, cell) : cell
  })
}

/**
 * Opens a file for saving, so that a path that can't be written fails before the work is done. `save` replaces an existing
 * file or link as a whole; until then, and after `discard`, it stays as it was. Throws `CommandFailed`.
 */
export function prepareFile(label: string, file: string) {
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
  const fd = attempt(() => (draft === file ? openSync(file, 'w') : openInPlace(draft)))
  const discard = () => {
    if (draft !== file) removeFile(draft)
  }
  return {
    save(text: string) {
      try {
        attempt(() => {
          writeFileSync(fd, text)
          closeSync(fd)
          if (draft !== file) renameSync(draft, file)
        })
      } catch (error) {
        discard()
        throw error
      }
    },
    discard,
  }
}

const WIDTH = 30

/** A terminal, or its replacement in a test. */
export type Screen = { isTTY?: boolean; write(text: string): unknown }

const barText = (done: number, total: number, label: string) => {
  const filled = Math.floor((done / total) * WIDTH)
  const percent = String(Math.floor((done / total) * 100)).padStart(3)
  return `\r[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${percent} % ${label}`
}

/** A progress bar that is shown on a terminal only and redrawn once per percent, and if a label that changes has changed. */
export function progressBar(screen: Screen, total: number, label: string | (() => string)) {
  let done = 0
  let percent = -1
  let shown: string | undefined
  return {
    step() {
      done++
      const now = Math.floor((done / total) * 100)
      if (!screen.isTTY) return
      const text = typeof label === 'string' ? label : label()
      if (now === percent && text === shown) return
      percent = now
      shown = text
      // A shorter label leaves nothing of a longer one.
      screen.write(barText(done, total, text) + (typeof label === 'string' ? '' : '\u001b[K'))
    },
    /** Counts a step without drawing it. */
    skip() {
      done++
    },
    /** Clears the line of the bar. */
    end() {
      if (screen.isTTY && percent >= 0) screen.write('\r\u001b[2K')
    },
  }
}

export const REPORT_FLAG = {
  report: ['DIR', 'folder for junit.xml and summary.md; those of an earlier report are replaced'],
} as const satisfies Command['flags']

/**
 * Makes the folder of `--report`, and returns what writes a report there; without the option it does nothing. Throws
 * `BadOption` if nothing can be written there. A report changes no exit code.
 */
export function openReport({ report }: Input['flags']): (report: Report) => void {
  if (report === undefined) return () => {}
  const dir = String(report)
  prepareReport(dir)
  return (written) => {
    try {
      writeReport(dir, written)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      note(
        `the report in ${dir} could not be written (${code ?? message}); the exit code is that without a report`,
      )
    }
  }
}
