import type { Stats } from 'node:fs'
import { promisify } from 'node:util'
import { type Adapter, Low } from 'lowdb'
import { isSliceOver, yieldToOthers } from '../runtime/slices.ts'
import { checkedLine, checksumOf, LineReader } from './checked-lines.ts'
import { FORMAT, OtherFormat } from './damaged-file.ts'
import type { Disk } from './disk.ts'
import { createPrivate, ignoreErrors, syncFolderOf } from './files.ts'
import type { Op } from './op.ts'
import { type FileEntry, OpDecoder, OpEncoder, type RepeatedFields } from './op-codec.ts'
import type { Ownership } from './ownership.ts'

/** The data of lowdb: a list of ops, and the number of the first journal whose changes are not in it. */
export type DocumentContent = { generation: number; ops: Iterable<Op> }

const EMPTY: DocumentContent = { generation: 0, ops: [] }
const END = ['end'] as const
const SLICE_CHARS = 256 * 1024
// Other work gets this multiple of the time of a slice.
const OTHERS_SHARE = 3

/** The document of a data file, which lowdb reads and writes. */
export class Document {
  readonly #adapter: DocumentAdapter
  readonly #low: Low<DocumentContent>

  constructor(disk: Disk, file: string, owner: DocumentOwner, repeated: RepeatedFields) {
    this.#adapter = new DocumentAdapter(disk, file, owner, repeated)
    this.#low = new Low(this.#adapter, EMPTY)
  }

  /** The size of the file. */
  get bytes(): number {
    return this.#adapter.bytes
  }

  /** Returns the content; its ops are checked one by one when they are read, and throw `DamagedFile`. */
  async read(): Promise<DocumentContent> {
    await this.#low.read()
    const { data } = this.#low
    this.#low.data = EMPTY
    return data
  }

  async write(content: DocumentContent): Promise<void> {
    this.#low.data = content
    try {
      await this.#low.write()
    } finally {
      // The ops refer to rows that are no longer needed.
      this.#low.data = EMPTY
    }
  }
}

/**
 * Returns the text of the document: plain JSON with one entry per line, so that it can be read and written piece by
 * piece. After each entry follows its checksum.
 */
function* documentText(
  { generation, ops }: DocumentContent,
  repeated: RepeatedFields,
): Generator<string> {
  const head = `{"payoutSandbox":${FORMAT},"generation":${generation},"ops":[\n`
  yield head
  let before = checksumOf(head)
  const encoder = new OpEncoder(repeated)
  for (const op of ops) {
    const entries: FileEntry[] = []
    encoder.encode(op, entries)
    for (const entry of entries) {
      const { text, checksum } = checkedLine(JSON.stringify(entry), before)
      before = checksum
      yield text
    }
  }
  const end = JSON.stringify(END)
  yield `${end},${checksumOf(end, before)}\n]}\n`
}

/** Reads the head of a document; its ops are read when they are used. Throws `DamagedFile` with the position of the first damage. */
function readDocument(disk: Disk, file: string): DocumentContent {
  const lines = new LineReader(disk, file)
  const head = lines.nextLine()
  if (head === undefined) throw cutShort(lines)
  const format = /^\{"payoutSandbox":(\d+),/.exec(head)?.[1]
  if (format !== undefined && format !== String(FORMAT)) throw new OtherFormat(file, format)
  const generation = /^[^,]+,"generation":(\d+),"ops":\[$/.exec(head)?.[1]
  if (format === undefined || generation === undefined)
    throw lines.damaged('this is not a data file of payout-sandbox')
  lines.checksum = checksumOf(`${head}\n`)
  return { generation: Number(generation), ops: opsIn(lines) }
}

function* opsIn(lines: LineReader): Generator<Op, void> {
  const decoder = new OpDecoder()
  for (;;) {
    const entries = lines.nextEntries() as (FileEntry | typeof END)[] | undefined
    if (entries === undefined) throw cutShort(lines)
    const last = entries.at(-1)![0] === END[0] && entries.pop()
    for (const entry of entries as FileEntry[]) {
      const op = decoder.decode(entry)
      if (op) yield op
    }
    if (last) break
  }
  const last = lines.nextLine()
  if (last === undefined) throw cutShort(lines)
  if (last !== ']}' || !lines.isAtEnd)
    throw lines.damaged('something follows the end of the document')
}

const cutShort = (lines: LineReader) =>
  lines.damaged(lines.isAtEnd ? 'the end of the document is missing' : 'the last line is cut short')

type DocumentOwner = Pick<Ownership, 'confirm' | 'expectFile'>

/**
 * The lowdb adapter of the document. `write` writes a draft beside the old document, in slices that do not block the
 * event loop, syncs it and renames it. So a reader finds either the whole old document or the whole new one. `confirm`
 * of the owner throws if this process no longer owns the data file; the draft may then belong to another process, so
 * nothing is changed. The owner watches the document: it must remain the file that was read or written here.
 */
class DocumentAdapter implements Adapter<DocumentContent> {
  bytes = 0
  readonly #disk: Disk
  readonly #file: string
  readonly #owner: DocumentOwner
  readonly #repeated: RepeatedFields
  #current: Stats | undefined

  constructor(disk: Disk, file: string, owner: DocumentOwner, repeated: RepeatedFields) {
    this.#disk = disk
    this.#file = file
    this.#owner = owner
    this.#repeated = repeated
  }

  async read(): Promise<DocumentContent | null> {
    // Read the stats first, so that a replacement of the file during the read is noticed.
    this.#current = this.#disk.statSync(this.#file, { throwIfNoEntry: false })
    this.#owner.expectFile(this.#file, this.#current)
    if (!this.#current) return null
    this.bytes = this.#current.size
    return readDocument(this.#disk, this.#file)
  }

  async write(content: DocumentContent): Promise<void> {
    const disk = this.#disk
    const owner = this.#owner
    owner.confirm()
    const draft = `${this.#file}.tmp`
    try {
      const next = await writeDraft(disk, draft, documentText(content, this.#repeated))
      owner.confirm()
      // Changes are written while the rename runs, and a rename that reported an error may still have happened.
      owner.expectFile(this.#file, this.#current, next)
      // Asynchronous: to free the blocks of a large old document takes tens of ms.
      await promisify(disk.rename)(draft, this.#file)
      owner.expectFile(this.#file, next)
      this.#current = next
      this.bytes = next.size
    } catch (error) {
      ignoreErrors(() => {
        owner.confirm()
        disk.unlinkSync(draft)
      })
      throw error
    }
    syncFolderOf(disk, this.#file)
  }
}

/** Writes a document in slices and syncs it; returns the stats of the file. */
async function writeDraft(disk: Disk, draft: string, lines: Iterable<string>): Promise<Stats> {
  const fd = createPrivate(disk, draft)
  try {
    let slice = ''
    let sliceStart = performance.now()
    for (const line of lines) {
      slice += line
      if (slice.length >= SLICE_CHARS || isSliceOver()) {
        const buffer = Buffer.from(slice, 'utf8')
        slice = ''
        const took = performance.now() - sliceStart
        await writeBuffer(disk, fd, buffer)
        await yieldToOthers(took * OTHERS_SHARE)
        sliceStart = performance.now()
      }
    }
    await writeBuffer(disk, fd, Buffer.from(slice, 'utf8'))
    await promisify(disk.fsync)(fd)
    return disk.fstatSync(fd)
  } finally {
    ignoreErrors(() => disk.closeSync(fd))
  }
}

async function writeBuffer(disk: Disk, fd: number, buffer: Buffer): Promise<void> {
  let written = 0
  while (written < buffer.length) {
    written += await new Promise<number>((resolve, reject) => {
      disk.write(fd, buffer, written, buffer.length - written, null, (error, bytes) =>
        error ? reject(error) : resolve(bytes),
      )
    })
  }
}
