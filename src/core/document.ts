import { closeSync, fsync, openSync, readFileSync, rename, unlinkSync, write } from 'node:fs'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import type { Adapter } from 'lowdb'
import { syncFolderOf } from './files.ts'
import { DamagedFile } from './lines.ts'

/** Numbers of layers, by table: what a world of the document stands on, besides its base. */
export type LayerNumbers = Readonly<Record<string, number>>

/**
 * One step of rebuilding the state; the document and the journal are both lists of these.
 * Layers that several worlds or snapshots share are in the document once; a snapshot is `save` of what its world was.
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
  | ['forget', snapshot: string]
  | ['put', table: string, row: unknown]
  | ['set', table: string, id: string, fields: unknown]
  | ['remove', table: string, id: string]
  | ['counter', n: number]
  | ['drop', name: string]
  | ['reset', baseKey: string]

/** What a world was made with and keeps all its life: the base it goes back to, if it is one of its own, and more. */
export type WorldAbout = { readonly base?: string }

/** What lowdb holds: a counted list of ops. It is read whole and written in slices. */
export type DocumentContent = { generation: number; ops: Iterable<Op> }

const FORMAT = 1
const SLICE_CHARS = 256 * 1024
// The event loop is given back after this much work, real ms.
const SLICE_MS = 8

const writeAsync = promisify(write)
const fsyncAsync = promisify(fsync)
const renameAsync = promisify(rename)

/** The document's text, a line an op, so that it is plain JSON and yet can be read and written piece by piece. */
function* documentLines({ generation, ops }: DocumentContent): Generator<string> {
  const head = `{"payoutSandbox":${FORMAT},"generation":${generation},"ops":[\n`
  let crc = crc32(head)
  let count = 0
  yield head
  for (const op of ops) {
    const line = `${JSON.stringify(op)},\n`
    crc = crc32(line, crc)
    count++
    yield line
  }
  yield `["end",${count},"${crc.toString(16).padStart(8, '0')}"]\n]}\n`
}

/** Reads a document's text back; the first place that is not as written is told by `DamagedFile`. */
export function* parseDocument(file: string, content: Buffer): Generator<Op, void> {
  let start = 0
  let line = 0
  let crc = 0
  const damaged = (what: string) =>
    new DamagedFile({ file, line: Math.max(line, 1), byte: start, what })
  let ended = false
  while (start < content.length) {
    const end = content.indexOf(10, start)
    line++
    if (end === -1) throw damaged('the last line is cut short')
    const text = content.toString('utf8', start, end)
    if (line === 1) {
      if (!/^\{"payoutSandbox":1,"generation":\d+,"ops":\[$/.test(text)) {
        throw damaged('this is no document of payout-sandbox')
      }
      crc = crc32(content.subarray(start, end + 1))
    } else if (!ended) {
      let op: unknown
      try {
        op = JSON.parse(text.endsWith(',') ? text.slice(0, -1) : text)
      } catch {
        throw damaged('the line is no JSON')
      }
      if (!Array.isArray(op)) throw damaged('the line is no entry of a document')
      if (op[0] === 'end') {
        if (op[1] !== line - 2) throw damaged(`${op[1]} entries were written, ${line - 2} are here`)
        if (op[2] !== crc.toString(16).padStart(8, '0')) {
          throw damaged('the checksum does not match the entries')
        }
        ended = true
      } else {
        crc = crc32(content.subarray(start, end + 1), crc)
        yield op as Op
      }
    } else if (text !== ']}') {
      throw damaged('something follows the end of the document')
    }
    start = end + 1
  }
  if (!ended) throw damaged('the end of the document is missing')
}

/** The generation a document belongs to; its journals carry the same number or a higher one. */
export function generationOf(content: Buffer): number {
  const end = content.indexOf(10)
  return Number(
    /"generation":(\d+)/.exec(content.toString('utf8', 0, end === -1 ? 0 : end))?.[1] ?? 0,
  )
}

/**
 * lowdb's adapter for the document: `write` makes it anew beside the old one, in slices that leave the event loop
 * free, syncs it and renames it into place, so that a reader finds the old document or the new one, whole.
 */
export function documentAdapter(file: string): Adapter<DocumentContent> & { bytes: () => number } {
  let bytes = 0
  return {
    bytes: () => bytes,
    async read() {
      let content: Buffer
      try {
        content = readFileSync(file)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
      bytes = content.length
      return { generation: generationOf(content), ops: parseDocument(file, content) }
    },
    async write(content) {
      const draft = `${file}.tmp`
      const fd = openSync(draft, 'w', 0o600)
      let size = 0
      try {
        let slice = ''
        let sliceStart = performance.now()
        for (const line of documentLines(content)) {
          slice += line
          if (slice.length >= SLICE_CHARS || performance.now() - sliceStart >= SLICE_MS) {
            const buffer = Buffer.from(slice, 'utf8')
            slice = ''
            size += await writeBuffer(fd, buffer)
            sliceStart = performance.now()
          }
        }
        size += await writeBuffer(fd, Buffer.from(slice, 'utf8'))
        await fsyncAsync(fd)
      } catch (error) {
        closeSync(fd)
        unlinkSync(draft)
        throw error
      }
      closeSync(fd)
      // Letting go of a large old document takes tens of ms.
      await renameAsync(draft, file)
      syncFolderOf(file)
      bytes = size
    },
  }
}

async function writeBuffer(fd: number, buffer: Buffer): Promise<number> {
  let written = 0
  while (written < buffer.length) {
    const { bytesWritten } = await writeAsync(fd, buffer, written, buffer.length - written, null)
    written += bytesWritten
  }
  return written
}
