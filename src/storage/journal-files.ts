import type { Stats } from 'node:fs'
import { basename, dirname } from 'node:path'
import { LineReader } from './checked-lines.ts'
import { DamagedFile, FORMAT, OtherFormat } from './damaged-file.ts'
import type { Disk } from './disk.ts'
import { removeFile } from './files.ts'
import type { AtomicChange } from './op.ts'
import { type JournalLine, OpDecoder } from './op-codec.ts'

// A journal has its number in its name, and continues the journal with the number before. The generation of a document
// is the number of the first journal whose changes are not in it.

/** The path of a journal. */
export const journalPath = (file: string, number: number): string => `${file}.journal.${number}`

/** The numbers of the journals of a data file, in order. */
export function journalNumbers(disk: Disk, file: string): number[] {
  const start = `${basename(file)}.journal.`
  return disk
    .readdirSync(dirname(file))
    .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)))
    .sort((a, b) => a - b)
}

/** The paths of the journals of formats 1 to 3. */
export function olderJournals(file: string): string[] {
  const stem = file.replace(/\.json$/, '')
  return [`${stem}.journal.previous.jsonl`, `${stem}.journal.jsonl`]
}

/** The first line of a journal: its format, and the final size of the journal before it, bytes. */
type Header = { payoutSandbox: number; after?: number | undefined }

/** The JSON text of the first line of a new journal. */
export const headerText = (after: number | undefined): string =>
  JSON.stringify({ payoutSandbox: FORMAT, after } satisfies Header)

/** A journal that was read. `headerBytes` is 0 if it was never used: a start or a rotation was interrupted. */
export type ReadJournal = {
  number: number
  path: string
  stats: Stats
  lines: LineReader
  headerBytes: number
}

export type JournalEvents = {
  onChange: (change: AtomicChange) => void
  /** Called with the size of an incomplete write at the end of a journal. */
  onTorn: (path: string, bytes: number) => void
}

/**
 * Reads the journals from a document's generation on. Removes older ones: the document contains their changes. Throws
 * `DamagedFile`.
 */
export function readJournals(
  disk: Disk,
  file: string,
  generation: number,
  events: JournalEvents,
): ReadJournal[] {
  const journals: ReadJournal[] = []
  for (const number of journalNumbers(disk, file)) {
    const path = journalPath(file, number)
    if (number < generation) {
      removeFile(disk, path)
      continue
    }
    // The document or a journal was lost, or the document was replaced by an older copy.
    const wanted = generation + journals.length
    if (number !== wanted) {
      const what = `it starts with change set ${number}, but the data file only has the change sets before ${wanted}`
      throw new DamagedFile({ file: path, line: 1, byte: 0, what })
    }
    journals.push(readJournal(disk, path, number, journals.at(-1), events))
  }
  return journals
}

function readJournal(
  disk: Disk,
  path: string,
  number: number,
  before: ReadJournal | undefined,
  { onChange, onTorn }: JournalEvents,
): ReadJournal {
  const stats = disk.statSync(path)
  const lines = new LineReader(disk, path)
  const header = lines.nextEntries(1)
  const headerBytes = lines.end
  if (header) {
    checkHeader(path, header[0] as Header, before)
    const decoder = new OpDecoder()
    for (let values = lines.nextEntries(); values; values = lines.nextEntries())
      for (const value of values) onChange(decoder.decodeChange(value as JournalLine))
  }
  const torn = lines.tornBytes()
  if (torn > 0) onTorn(path, torn)
  return { number, path, stats, lines, headerBytes }
}

function checkHeader(
  path: string,
  { payoutSandbox: format, after }: Header,
  before: ReadJournal | undefined,
) {
  if (format !== FORMAT) throw new OtherFormat(path, format)
  if (before && after !== undefined && after !== before.lines.end)
    throw before.lines.damaged(
      `it ends here, but it had ${after} bytes when the next journal was started`,
    )
}
