import type { RecordedTimer } from '../model/recording.ts'
import type { TimerObserver } from '../world/recorder.ts'
import { createDeferred, resolvesInTime } from './deferred.ts'
import type { ReplayDifference } from './differences.ts'
import type { Recording } from './recording.ts'

const labelOf = ({ ran, kind, client }: RecordedTimer) =>
  `timer ${ran} (${kind}) of client ${client}`

/** Compares the timers that run in a replay with the timers of the recording, in their order. */
export function createTimerCheck(
  { lines }: Recording,
  onDifference: (difference: ReplayDifference) => void,
) {
  const expected = lines.filter((line) => 'ran' in line)
  const deferreds = expected.map(() => createDeferred<void>())
  const kinds: Record<string, number> = {}
  let [count, nextIndex] = [0, 0]
  // A recording can end between a call and its timers, so an extra timer is a difference only if the recording goes on.
  let extra: RecordedTimer | undefined

  function compare(found: RecordedTimer, recorded: RecordedTimer | undefined) {
    if (!recorded) extra ??= found
    else if (JSON.stringify(recorded) !== JSON.stringify(found))
      onDifference({
        at: labelOf(found),
        what: 'is not the timer that ran in the recording',
        recorded: JSON.stringify(recorded),
        found: JSON.stringify(found),
      })
  }

  const onTimer: TimerObserver = (client, { timer_id, kind, due_at }) => {
    compare({ ran: timer_id, client, kind, due_at }, expected[count])
    deferreds[count++]?.resolve()
    kinds[kind] = (kinds[kind] ?? 0) + 1
  }

  return {
    onTimer,
    kinds,
    get count() {
      return count
    },
    /** Reports an extra timer. Call it only if the recording goes on. */
    checkExtra() {
      if (extra)
        onDifference({ at: labelOf(extra), what: 'ran in the replay, but not in the recording' })
    },
    /** Waits for the next timer of the recording. */
    async next() {
      const index = nextIndex++
      if (await resolvesInTime(deferreds[index]!.promise)) return
      onDifference({
        at: labelOf(expected[index]!),
        what: 'ran in the recording, but not in the replay',
      })
    },
  }
}
