// tools/sweep/report/: what a sweep prints and writes: progress, the table of a terminal, sweep.json, the page, JUnit, and
// the steps of a finding beside those of the run without it.

import { formatDuration } from '../../../model/duration.ts'
import { countOf } from '../../../model/words.ts'
import type { Progress } from '../sweep.ts'

// Between two lines of progress where there is no terminal, real ms.
const LINE_MS = 15_000

/** The progress of a sweep with the time left: a line that changes in a terminal, and a line now and then elsewhere. `clear` empties the line. */
export function createSweepProgress(clear: string, maxTimeMs = Number.POSITIVE_INFINITY) {
  const { stderr } = process
  const startedAt = performance.now()
  let lineAt = startedAt
  return {
    show({ done, left, found, what }: Progress) {
      const now = performance.now()
      const leftMs = Math.max(
        0,
        Math.min(((now - startedAt) / done) * left, maxTimeMs - (now - startedAt)),
      )
      const time = formatDuration(Math.ceil(leftMs / 1_000) * 1_000)
      const line = `${done} of ${done + left} runs, ${countOf(found, 'finding')}, ${time} left: `
      if (stderr.isTTY) stderr.write(`${clear}${line}${what.slice(0, 60)}`)
      else if (now - lineAt > LINE_MS) {
        lineAt = now
        stderr.write(`${line}${what}\n`)
      }
    },
    end() {
      if (stderr.isTTY) stderr.write(clear)
    },
  }
}
