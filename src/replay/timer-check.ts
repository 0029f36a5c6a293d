import type { TimerObserver } from '../core/recorder.ts'
import type { RecordedTimer } from '../model/recording.ts'
import type { Difference } from './differences.ts'
import { awaited, happens } from './happens.ts'
import type { Recording } from './recording.ts'

const placeOf = ({ ran, kind, client }: RecordedTimer) =>
  `timer ${ran} (${kind}) of client ${client}`

/** Compares the timers that run in a replay with those that ran in the recording, in their order. */
export function createTimerCheck({ lines }: Recording, differs: (difference: Difference) => void) {
  const expected = lines.filter((line) => 'ran' in line)
  const seen = expected.map(() => awaited<void>())
  const kinds: Record<string, number> = {}
  let [count, fed] = [0, 0]
  // A recording may end between a call and what it does: a timer too many counts only if more was recorded.
  let extra: RecordedTimer | undefined

  function compare(found: RecordedTimer, recorded: RecordedTimer | undefined) {
    if (!recorded) extra ??= found
    else if (JSON.stringify(recorded) !== JSON.stringify(found))
      differs({
        at: placeOf(found),
        what: 'another timer ran in the recording',
        recorded: JSON.stringify(recorded),
        found: JSON.stringify(found),
      })
  }

  const ran: TimerObserver = (client, { timer_id, kind, due_at }) => {
    compare({ ran: timer_id, client, kind, due_at }, expected[count])
    seen[count++]?.resolve()
    kinds[kind] = (kinds[kind] ?? 0) + 1
  }

  return {
    ran,
    kinds,
    get count() {
      return count
    },
    /** To be called where the recording goes on. */
    refuseExtra() {
      if (extra) differs({ at: placeOf(extra), what: 'runs here, and did not in the recording' })
    },
    /** Waits for the next timer that ran in the recording. */
    async next() {
      const at = fed++
      if (await happens(seen[at]!.promise)) return
      differs({ at: placeOf(expected[at]!), what: 'ran in the recording, and does not here' })
    },
  }
}
