import type { Disk } from './disk.ts'
import { appendWhole, isThere, quietly, removeFile, syncFolderOf } from './files.ts'
import { checkedLine, type Damage, DamagedFile, readCheckedLines } from './lines.ts'

/** What a journal tells of itself when it is read at start. */
export type JournalNotes = {
  torn: (file: string, bytes: number) => void
  damage?: (damage: Damage) => void
  /** Between the file before and the one written to: the document that is still to be made holds what is here now. */
  turned?: () => void
}

const headerOf = (generation: number) => checkedLine(JSON.stringify({ generation }))

/**
 * The file that makes an acknowledgement true: a change is a line, written before its answer is sent.
 *
 * Two files at most: the one written to, and, while the document is made anew, the one before it.
 * Each starts with the generation that tells whether a document already holds its changes.
 */
export function createJournal(disk: Disk, file: string, previousFile: string, fsync: boolean) {
  let fd: number | undefined
  let size = 0
  let headerBytes = 0
  let generation = 0
  // Whether a failed write may have left bytes behind the last good line.
  let untidy = false
  // Whether the file written to has the name of the one before it: the one after it could not be made yet.
  let halfTurned = false

  function start(next: number) {
    const opened = disk.openSync(file, 'w', 0o600)
    let written: number
    try {
      written = appendWhole(disk, opened, 0, headerOf(next))
      if (fsync) disk.fdatasyncSync(opened)
    } catch (error) {
      quietly(() => disk.closeSync(opened))
      throw error
    }
    if (fsync) syncFolderOf(disk, file)
    const before = fd
    fd = opened
    if (before !== undefined) quietly(() => disk.closeSync(before))
    generation = next
    size = written
    headerBytes = written
    untidy = false
  }

  function read(
    path: string,
    from: number,
    take: (line: unknown) => void,
    notes: JournalNotes,
    follows: (path: string, generation: number) => void,
  ) {
    if (!isThere(disk, path)) return undefined
    let found: number | undefined
    const result = readCheckedLines(
      path,
      disk.readFileSync(path),
      (value) => {
        if (found === undefined) {
          found = (value as { generation: number }).generation
          if (found >= from) follows(path, found)
        } else if (found >= from) take(value)
      },
      notes.damage,
    )
    if (result.tornBytes > 0) notes.torn(path, result.tornBytes)
    return { generation: found, goodBytes: result.goodBytes }
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
    open(documentGeneration: number, take: (line: unknown) => void, notes: JournalNotes) {
      let wanted = documentGeneration
      // A journal further on than its document says: the document was lost, or put back from an older copy.
      const follows = (path: string, found: number) => {
        if (found > wanted) {
          const what = `it goes on from change set ${found}, the data file holds those before ${wanted}`
          const damage = { file: path, line: 1, byte: 0, what }
          if (!notes.damage) throw new DamagedFile(damage)
          notes.damage(damage)
        }
        wanted = found + 1
      }
      const previous = read(previousFile, documentGeneration, take, notes, follows)
      if (previous && (previous.generation ?? 0) < documentGeneration) disk.unlinkSync(previousFile)
      else if (previous) notes.turned?.()
      const current = read(file, documentGeneration, take, notes, follows)
      if (current?.generation === undefined || current.generation < documentGeneration) {
        start(Math.max(documentGeneration, (previous?.generation ?? -1) + 1))
        return
      }
      const opened = disk.openSync(file, 'r+')
      try {
        // A shorter line must not leave the rest of a torn one behind it.
        disk.ftruncateSync(opened, current.goodBytes)
      } catch (error) {
        quietly(() => disk.closeSync(opened))
        throw error
      }
      fd = opened
      generation = current.generation
      size = current.goodBytes
      headerBytes = headerOf(generation).length
    },
    /** Writes changes, a line each, or none of them. When it returns, a killed process has not lost it; with fsync, nor has a power cut. */
    append(changes: readonly string[]) {
      if (fd === undefined) throw new Error('The journal is closed')
      if (untidy) disk.ftruncateSync(fd, size)
      untidy = true
      const written = appendWhole(disk, fd, size, changes.map(checkedLine).join(''))
      try {
        if (fsync) disk.fdatasyncSync(fd)
      } catch (error) {
        // What was refused must not come back at the next start.
        disk.ftruncateSync(fd, size)
        throw error
      }
      untidy = false
      size += written
    },
    /** Starts an empty file, whose document has been written already. */
    startAnew: start,
    /**
     * Starts an empty file for the changes that come while the document is made anew. Where that fails they go on
     * into the file that has the other name already, and the next call starts the empty one.
     */
    rotate() {
      if (!halfTurned) {
        if (isThere(disk, previousFile)) return
        disk.renameSync(file, previousFile)
        halfTurned = true
      }
      start(generation + 1)
      halfTurned = false
    },
    /** The document holds all up to this generation: the file before is done. */
    dropPrevious() {
      removeFile(disk, previousFile)
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
