import type { Stats } from 'node:fs'
import { checkedLines, type Damage, DamagedFile, readCheckedLines } from './checked-lines.ts'
import type { Disk } from './disk.ts'
import { appendWhole, createPrivate, ignoreErrors, removeFile, syncFolderOf } from './files.ts'
import type { Ownership } from './ownership.ts'

/** Callbacks of reading a journal at the start. */
export type JournalEvents = {
  torn: (file: string, bytes: number) => void
  damage?: (damage: Damage) => void
  /** Called between the previous and the current file: the pending document must contain the state of this moment. */
  onRotated?: () => void
}

/** The first line of a journal: its generation, and the final size of the previous journal, bytes. */
type Header = { generation: number; after?: number }

const headerOf = (header: Header) => checkedLines([JSON.stringify(header)])

/**
 * The write-ahead file: each change is a line, written before its response is sent.
 *
 * At most two files: the current one and, while the document is rewritten, the previous one. Each starts with its
 * generation, which shows whether a document already contains its changes.
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
  // Whether a failed write may have left bytes after the last complete line.
  let hasPartialWrite = false
  // Whether the current file already has the name of the previous one, because the next file could not be created yet.
  let rotationPending = false
  // Whether the previous file is needed: no document contains its changes yet.
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
   * Continues in a new file with a copy of what was read. A previous owner that is still alive has the old file open;
   * its writes there do no harm.
   */
  function copyToOwnFile(read: Buffer) {
    const draft = `${file}.tmp`
    const opened = createPrivate(disk, draft)
    try {
      appendWhole(disk, opened, 0, read)
      // Needed without fsync too: what is on the disk from the old file must also be there from the new one.
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

  /** Truncates the bytes of a failed write: it was rejected and must not reappear. */
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
    /** Reads every line since a document's generation, then opens the file for appending. */
    open(documentGeneration: number, onLine: (line: unknown) => void, notes: JournalEvents) {
      let wanted = documentGeneration
      let previous: ReturnType<typeof read>
      const damaged = (damage: Damage) => {
        if (!notes.damage) throw new DamagedFile(damage)
        notes.damage(damage)
      }
      const follows = (path: string, { generation: found, after }: Header) => {
        // The journal is newer than the document expects: the document was lost or replaced by an older copy.
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
    /**
     * Writes all changes, one line each, or none. After it returns, a kill does not lose them; with fsync, a power
     * failure does not either.
     */
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
        // A rejected change must not reappear at the next start.
        disk.ftruncateSync(fd, size)
        throw error
      }
      hasPartialWrite = false
      size += written
    },
    /** Starts an empty file after its document has been written. */
    startEmpty: (next: number) => start(next),
    /**
     * Starts an empty file for the changes during the rewrite of the document. If that fails, changes continue in the
     * renamed file, and the next call starts the empty one.
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
    /** Removes the previous file: the document contains all its changes. */
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
