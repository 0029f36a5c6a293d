import type { Stats } from 'node:fs'
import { checkedLines, type Damage, DamagedFile, readCheckedLines } from './checked-lines.ts'
import type { Disk } from './disk.ts'
import { appendWhole, createPrivate, ignoreErrors, removeFile, syncFolderOf } from './files.ts'
import type { Ownership } from './ownership.ts'

/** What a journal tells of itself when it is read at start. */
export type JournalEvents = {
  torn: (file: string, bytes: number) => void
  damage?: (damage: Damage) => void
  /** Between the file before and the one written to: the document that is still to be made holds what is here now. */
  onRotated?: () => void
}

/** A journal's first line: its place in the row of journals, and how long the one before it was in the end, bytes. */
type Header = { generation: number; after?: number }

const headerOf = (header: Header) => checkedLines([JSON.stringify(header)])

/**
 * The file that makes an acknowledgement true: a change is a line, written before its answer is sent.
 *
 * Two files at most: the one written to, and, while the document is made anew, the one before it.
 * Each starts with the generation that tells whether a document already holds its changes.
 */
export function createJournal(
  disk: Disk,
  file: string,
  previousFile: string,
  fsync: boolean,
  owner: Pick<
    Ownership,
    'confirm' | 'confirmIfStale' | 'confirmWritten' | 'forgetFile' | 'setJournal' | 'expectFile'
  >,
) {
  let fd: number | undefined
  let size = 0
  let headerBytes = 0
  let generation = 0
  // Whether a failed write may have left bytes behind the last good line.
  let hasPartialWrite = false
  // Whether the file written to has the name of the one before it: the one after it could not be made yet.
  let rotationPending = false
  // Whether the file before is needed: no document holds yet what stands in it.
  let hasPrevious = false

  function start(next: number, after?: number) {
    const opened = createPrivate(disk, file)
    const header = headerOf(
      after === undefined ? { generation: next } : { generation: next, after },
    )
    let written: number
    try {
      written = appendWhole(disk, opened, 0, header)
      if (fsync) disk.fdatasyncSync(opened)
    } catch (error) {
      ignoreErrors(() => disk.closeSync(opened))
      throw error
    }
    if (fsync) syncFolderOf(disk, file)
    writeTo(opened)
    generation = next
    size = written
    headerBytes = written
  }

  function writeTo(opened: number) {
    const before = fd
    fd = opened
    if (before !== undefined) ignoreErrors(() => disk.closeSync(before))
    hasPartialWrite = false
    owner.setJournal(file, opened)
  }

  /**
   * Goes on in a file of our own that holds what was read. An owner of before that is not dead, as was thought, has the
   * old file open: what it still writes there can't hurt.
   */
  function copyToOwnFile(read: Buffer) {
    const draft = `${file}.tmp`
    const opened = createPrivate(disk, draft)
    try {
      appendWhole(disk, opened, 0, read)
      // Also without fsync: what the disk has of the old file it must have of the new one.
      disk.fdatasyncSync(opened)
      disk.renameSync(draft, file)
    } catch (error) {
      ignoreErrors(() => disk.closeSync(opened))
      ignoreErrors(() => disk.unlinkSync(draft))
      throw error
    }
    if (fsync) syncFolderOf(disk, file)
    writeTo(opened)
  }

  /** Cuts off what a failed write left: it was refused, and must not come back. */
  function cutPartialWrite() {
    if (hasPartialWrite) disk.ftruncateSync(fd!, size)
    hasPartialWrite = false
  }

  function read(
    path: string,
    from: number,
    onLine: (line: unknown) => void,
    notes: JournalEvents,
    follows: (path: string, header: Header) => void,
  ) {
    const stats = disk.statSync(path, { throwIfNoEntry: false })
    if (!stats) return undefined
    let header: Header | undefined
    const content = disk.readFileSync(path)
    const result = readCheckedLines(
      path,
      content,
      (value) => {
        if (header === undefined) {
          header = value as Header
          if (header.generation >= from) follows(path, header)
        } else if (header.generation >= from) onLine(value)
      },
      notes.damage,
    )
    if (result.tornBytes > 0) notes.torn(path, result.tornBytes)
    return { ...result, stats, header, good: content.subarray(0, result.goodBytes) }
  }

  function keepPrevious(stats: Stats) {
    hasPrevious = true
    owner.expectFile(previousFile, stats)
  }

  function removePrevious() {
    owner.forgetFile(previousFile)
    removeFile(disk, previousFile)
    hasPrevious = false
  }

  return {
    get size() {
      return size
    },
    get isEmpty() {
      return size === headerBytes
    },
    get generation() {
      return generation
    },
    /** Hands on every line since a document's generation, then opens the file for more. */
    open(documentGeneration: number, onLine: (line: unknown) => void, notes: JournalEvents) {
      let wanted = documentGeneration
      let previous: ReturnType<typeof read>
      const damaged = (damage: Damage) => {
        if (!notes.damage) throw new DamagedFile(damage)
        notes.damage(damage)
      }
      const follows = (path: string, { generation: found, after }: Header) => {
        // A journal further on than its document says: the document was lost, or put back from an older copy.
        if (found > wanted) {
          const what = `it starts with change set ${found}, but the data file only has the change sets before ${wanted}`
          damaged({ file: path, line: 1, byte: 0, what })
        } else if (previous && after !== undefined && after !== previous.goodBytes) {
          const { lines, goodBytes } = previous
          const what = `it ends here, but it had ${after} bytes when the next journal was started`
          damaged({ file: previousFile, line: lines + 1, byte: goodBytes, what })
        }
        wanted = found + 1
      }
      previous = read(previousFile, documentGeneration, onLine, notes, follows)
      if (previous?.header && previous.header.generation < documentGeneration) {
        removePrevious()
        previous = undefined
      } else if (previous) {
        keepPrevious(previous.stats)
        notes.onRotated?.()
      } else owner.forgetFile(previousFile)
      const current = read(file, documentGeneration, onLine, notes, follows)
      if (current?.header === undefined || current.header.generation < documentGeneration) {
        const next = (previous?.header?.generation ?? -1) + 1
        start(Math.max(documentGeneration, next), previous?.goodBytes)
        return
      }
      const { header, good } = current
      const ofHeader = headerOf(header).length
      if (good.length === ofHeader) {
        start(header.generation, header.after)
        return
      }
      copyToOwnFile(good)
      generation = header.generation
      size = good.length
      headerBytes = ofHeader
    },
    /** Writes changes, a line each, or none of them. When it returns, a killed process has not lost it; with fsync, nor has a power cut. */
    append(changes: readonly string[]) {
      if (fd === undefined) throw new Error('The journal is closed')
      owner.confirmIfStale()
      cutPartialWrite()
      hasPartialWrite = true
      const written = appendWhole(disk, fd, size, checkedLines(changes))
      try {
        if (fsync) disk.fdatasyncSync(fd)
        owner.confirmWritten()
      } catch (error) {
        // What was refused must not come back at the next start.
        disk.ftruncateSync(fd, size)
        throw error
      }
      hasPartialWrite = false
      size += written
    },
    /** Starts an empty file, whose document has been written already. */
    startEmpty: (next: number) => start(next),
    /**
     * Starts an empty file for the changes that come while the document is made anew. Where that fails they go on
     * into the file that has the other name already, and the next call starts the empty one.
     */
    rotate() {
      owner.confirm()
      if (!rotationPending) {
        if (hasPrevious) return
        cutPartialWrite()
        const stats = disk.fstatSync(fd!)
        disk.renameSync(file, previousFile)
        rotationPending = true
        keepPrevious(stats)
        owner.setJournal(previousFile, fd!)
      }
      start(generation + 1, size)
      rotationPending = false
    },
    /** The document holds all up to this generation: the file before is done. */
    dropPrevious() {
      owner.confirm()
      removePrevious()
    },
    close() {
      if (fd === undefined) return
      const last = fd
      fd = undefined
      try {
        disk.fdatasyncSync(last)
      } finally {
        disk.closeSync(last)
      }
    },
  }
}

/** The open journal. */
export type Journal = ReturnType<typeof createJournal>
