import type { Stats } from 'node:fs'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import type { Adapter } from 'lowdb'
import { DamagedFile } from './checked-lines.ts'
import type { Disk } from './disk.ts'
import { createPrivate, ignoreErrors, syncFolderOf } from './files.ts'
import type { Ownership } from './ownership.ts'

/** The layer that a world of the document is built on, besides its base: layer number by table name. */
export type LayerNumbers = Readonly<Record<string, number>>

/**
 * One step of rebuilding the state; the document and the journal are both lists of these. A layer that several worlds
 * or snapshots share is in the document once. A snapshot is the state of its world at that time, followed by `save`.
 */
export type Op =
  | ['base', key: string]
  | ['layer', number: number, table: string, baseKey: string, parent: number]
  | [
      'world',
      name: string,
      baseKey: string,
      counter: number,
      layers?: LayerNumbers,
      about?: WorldAbout,
    ]
  | ['fork', name: string, source: string, snapshot: string | null, about: WorldAbout]
  | ['save', snapshot: string, counter: number]
  | ['restore', snapshot: string]
  | ['take', source: string]
  | ['forget', snapshot: string]
  | ['put', table: string, row: unknown]
  | ['set', table: string, id: string, fields: unknown]
  | ['remove', table: string, id: string]
  | ['counter', n: number]
  | ['drop', name: string]
  | ['reset', baseKey: string]

/** Properties of a world that never change: the base that a reset restores, if the world has its own. */
export type WorldAbout = { readonly base?: string }

/** The data of lowdb: a list of ops with its generation. It is read in one call and written in slices. */
export type DocumentContent = { generation: number; ops: Iterable<Op> }

const FORMAT = 3
const END = '["end"]'
const LINE_FEED = 10
const COMMA = 44
const SLICE_CHARS = 256 * 1024
// The writer yields to the event loop after this time, real ms.
const SLICE_MS = 8
// Other work gets this multiple of the time of a slice. An event loop turn shorter than `IDLE_TURN_MS` (real ms) had no
// other work.
const OTHERS_SHARE = 3
const IDLE_TURN_MS = 0.1

/** A document in the format of another version: it is not damaged, but this version cannot read it. */
export class OtherFormat extends DamagedFile {
  constructor(file: string, format: string) {
    const what = `it has format ${format}, but this version only reads format ${FORMAT}`
    super({ file, line: 1, byte: 0, what })
    this.name = 'OtherFormat'
  }
}

/**
 * Returns the text of the document: plain JSON with one op per line, so that it can be read and written piece by
 * piece. After each op follows the checksum of the text up to and including that op.
 */
function* documentLines({ generation, ops }: DocumentContent): Generator<string> {
  const head = `{"payoutSandbox":${FORMAT},"generation":${generation},"ops":[\n`
  let crc = crc32(head)
  yield head
  for (const op of ops) {
    const json = JSON.stringify(op)
    crc = crc32(json, crc)
    yield `${json},${crc},\n`
  }
  yield `${END},${crc32(END, crc)}\n]}\n`
}

/**
 * Parses the text of a document and checks each op before it yields it. Throws `DamagedFile` with the position of the
 * first damage.
 */
export function* parseDocument(file: string, content: Buffer): Generator<Op, void> {
  let start = 0
  let line = 0
  let crc = 0
  let ended = false
  let closed = false
  const damaged = (what: string) =>
    new DamagedFile({ file, line: Math.max(line, 1), byte: start, what })

  function checkHead(text: string) {
    const format = /^\{"payoutSandbox":(\d+),/.exec(text)?.[1]
    if (format !== undefined && format !== String(FORMAT)) throw new OtherFormat(file, format)
    if (format === undefined || !/^[^,]+,"generation":\d+,"ops":\[$/.test(text))
      throw damaged('this is not a data file of payout-sandbox')
    crc = crc32(`${text}\n`)
  }

  /** Returns the JSON text of a line; throws if its checksum is wrong. */
  function checked(end: number): string {
    const sumEnd = content[end - 1] === COMMA ? end - 1 : end
    const sumStart = content.lastIndexOf(COMMA, sumEnd - 1)
    if (sumStart <= start) throw damaged('the line is not an entry of a data file')
    const json = content.subarray(start, sumStart)
    crc = crc32(json, crc)
    if (content.toString('latin1', sumStart + 1, sumEnd) !== String(crc))
      throw damaged('the checksum does not match the line')
    return json.toString('utf8')
  }

  while (start < content.length) {
    const end = content.indexOf(LINE_FEED, start)
    line++
    if (end === -1) throw damaged('the last line is cut short')
    if (line === 1) checkHead(content.toString('utf8', start, end))
    else if (!ended) {
      const json = checked(end)
      if (json === END) ended = true
      else yield JSON.parse(json) as Op
    } else {
      if (closed || content.toString('utf8', start, end) !== ']}')
        throw damaged('something follows the end of the document')
      closed = true
    }
    start = end + 1
  }
  if (!closed) throw damaged('the end of the document is missing')
}

/** The generation of a document; its journals have the same number or a higher one. */
export function generationOf(content: Buffer): number {
  const end = content.indexOf(10)
  return Number(
    /"generation":(\d+)/.exec(content.toString('utf8', 0, end === -1 ? 0 : end))?.[1] ?? 0,
  )
}

/**
 * The lowdb adapter of the document. `write` writes a draft beside the old document, in slices that do not block the
 * event loop, syncs it and renames it. So a reader finds either the whole old document or the whole new one. `confirm`
 * of the owner throws if this process no longer owns the data file; the draft may then belong to another process, so
 * nothing is changed. The owner watches the document: it must remain the file that was read or written here.
 */
export function documentAdapter(
  disk: Disk,
  file: string,
  owner: () => Pick<Ownership, 'confirm' | 'expectFile'>,
): Adapter<DocumentContent> & { bytes: () => number } {
  let bytes = 0
  let current: Stats | undefined
  return {
    bytes: () => bytes,
    async read() {
      // Read the stats first, so that a replacement of the file during the read is noticed.
      current = disk.statSync(file, { throwIfNoEntry: false })
      owner().expectFile(file, current)
      if (!current) return null
      const content = disk.readFileSync(file)
      bytes = content.length
      return { generation: generationOf(content), ops: parseDocument(file, content) }
    },
    async write(content) {
      const { confirm, expectFile } = owner()
      confirm()
      const draft = `${file}.tmp`
      try {
        const next = await writeDraft(disk, draft, content)
        confirm()
        // Changes are written while the rename runs, and a rename that reported an error may still have happened.
        expectFile(file, current, next)
        // Asynchronous: to free the blocks of a large old document takes tens of ms.
        await promisify(disk.rename)(draft, file)
        expectFile(file, next)
        current = next
        bytes = next.size
      } catch (error) {
        ignoreErrors(() => {
          confirm()
          disk.unlinkSync(draft)
        })
        throw error
      }
      syncFolderOf(disk, file)
    },
  }
}

/** Writes a document in slices and syncs it; returns the stats of the file. */
async function writeDraft(disk: Disk, draft: string, content: DocumentContent): Promise<Stats> {
  const fd = createPrivate(disk, draft)
  try {
    let slice = ''
    let sliceStart = performance.now()
    for (const line of documentLines(content)) {
      slice += line
      if (slice.length >= SLICE_CHARS || performance.now() - sliceStart >= SLICE_MS) {
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

/** Yields to the event loop for at least one turn, and up to `ms` (real) while it has other work. */
async function yieldToOthers(ms: number) {
  const until = performance.now() + ms
  for (let before = performance.now(); ; ) {
    await new Promise(setImmediate)
    const now = performance.now()
    if (now >= until || now - before < IDLE_TURN_MS) return
    before = now
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
