import type { Later } from './later.ts'

// The document is made anew when the journal is at least this large, and so many times as large as the document: that
// many bytes are read back in about a second after a crash, and a smaller journal would be rewritten all the time.
const FROM_BYTES = 64 * 1024 * 1024
const MIN_TIMES = 2
// It waits until nothing was written for this long, real ms, or until the journal is so many times as large.
const QUIET_MS = 250
const MAX_TIMES = 4
// And it leaves out half of what a start would read: a journal of rows that are all still there is read as fast as a
// document of them.
const MIN_SPARED = 2
// A journal of 1 GiB is ended whatever comes of it: Node reads no file of twice that.
const LONGEST = 16

export type CompactionDeps = {
  /** The journal's size from which the document is made anew, bytes. */
  from?: number | undefined
  journalBytes: () => number
  documentBytes: () => number
  /** How many entries a document would have. */
  countRows: () => number
  later: Later
  compact: () => void
}

/** Decides when the document is made anew: where it spares the next start much, and where it disturbs nobody. */
export function createCompaction({
  from = FROM_BYTES,
  journalBytes,
  documentBytes,
  countRows,
  later,
  compact,
}: CompactionDeps) {
  let entries = 0
  let lookFrom = from
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
    /** Counts entries of the document and the journals: what a start would read. */
    count(more: number) {
      entries += more
    },
    get entries() {
      return entries
    },
    /** Looks whether it is time, after a write. */
    written() {
      const bytes = journalBytes()
      if (bytes <= lookFrom) return
      const isTooLong = bytes > LONGEST * from
      if (bytes <= MIN_TIMES * documentBytes() && !isTooLong) return
      const isLate = endWait && bytes > MAX_TIMES * Math.max(from, documentBytes())
      if (isTooLong || isLate) {
        stop()
        compact()
      } else if (!endWait) {
        if (entries > MIN_SPARED * countRows()) waitForQuiet()
        else lookFrom = bytes + from
      }
    },
    /** The document was made: it has so many rows, and holds what was told when so many entries were counted. */
    made(rows: number, counted: number) {
      stop()
      entries += rows - counted
      lookFrom = from
    },
    /** It could not be made: trying again at every change would do nothing else. */
    failed() {
      lookFrom = journalBytes() + from
    },
    stop,
  }
}
