import type { Later } from '../runtime/real-time.ts'

// The document is rewritten when the journal is larger than `FROM_BYTES` and than the document. A start reads this many
// bytes in about a second; a lower limit would rewrite the document all the time.
const FROM_BYTES = 32 * 1024 * 1024
// Compaction waits until nothing was written for `QUIET_MS` (real), or until the journal is `MAX_TIMES` as large.
const QUIET_MS = 250
const MAX_TIMES = 4
// Compact only if at least half of the entries are dead: a journal of live rows is read as fast as a document of them.
const MIN_ENTRIES_PER_ROW = 2
// A journal of 512 MiB is always compacted: a start reads it in about ten seconds.
const MAX_GROWTH = 16

export type CompactionDeps = {
  /** The journal size from which the document is rewritten, bytes. */
  from?: number | undefined
  journalBytes: () => number
  documentBytes: () => number
  /** The number of entries of a new document. */
  countRows: () => number
  later: Later
  compact: () => void
}

/** Decides when to rewrite the document: when the next start gains a lot, and when the sandbox is idle. */
export function createCompaction({
  from = FROM_BYTES,
  journalBytes,
  documentBytes,
  countRows,
  later,
  compact,
}: CompactionDeps) {
  let entries = 0
  let checkFrom = from
  let endWait: (() => void) | undefined

  function stop() {
    endWait?.()
    endWait = undefined
  }

  function waitForQuiet() {
    const seen = journalBytes()
    endWait = later(QUIET_MS, () => {
      endWait = undefined
      if (journalBytes() === seen) compact()
      else waitForQuiet()
    })
  }

  return {
    /** Counts the entries of the document and the journals: what the next start would read. */
    count(more: number) {
      entries += more
    },
    get entries() {
      return entries
    },
    /** Called after each write; starts a compaction if it is time. */
    written() {
      const bytes = journalBytes()
      if (bytes <= checkFrom) return
      const isTooLong = bytes > MAX_GROWTH * from
      if (bytes <= documentBytes() && !isTooLong) return
      const isLate = endWait && bytes > MAX_TIMES * Math.max(from, documentBytes())
      if (isTooLong || isLate) {
        stop()
        compact()
      } else if (!endWait) {
        if (entries > MIN_ENTRIES_PER_ROW * countRows()) waitForQuiet()
        else checkFrom = bytes + from
      }
    },
    /** The document was rewritten: it has `rows` rows and contains everything up to `counted` entries. */
    compacted(rows: number, counted: number) {
      stop()
      entries += rows - counted
      checkFrom = from
    },
    /**
     * The document could not be written. Waits for more changes before the next try; else every change would try again.
     */
    failed() {
      checkFrom = journalBytes() + from
    },
    stop,
  }
}
