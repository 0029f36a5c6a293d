import { formatDuration } from '../model/duration.ts'
import { countOf } from '../model/words.ts'
import type { Progress } from '../sweep/sweep.ts'
import { progressBar } from './output.ts'

/** The progress bar of a sweep, with its findings and the time left. */
export function createSweepProgress() {
  const startedAt = performance.now()
  let bar: ReturnType<typeof progressBar> | undefined
  let [label, total] = ['', 0]
  return {
    show({ done, left, found, what }: Progress) {
      const perRun = (performance.now() - startedAt) / done
      const time = formatDuration(Math.ceil((perRun * left) / 1_000) * 1_000)
      label = `${done} of ${done + left} runs, ${countOf(found, 'finding')}, ${time} left: ${what.slice(0, 60)}`
      // With pairs of faults there are more runs than at the start.
      if (total !== done + left) {
        total = done + left
        bar = progressBar(process.stderr, total, () => label)
        for (let i = 1; i < done; i++) bar.skip()
      }
      bar!.step()
    },
    end: () => bar?.end(),
  }
}
