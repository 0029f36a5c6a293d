import type { AddressInfo } from 'node:net'
import { swapDashes } from '../../config/options.ts'
import { VERSION } from '../../config/package.ts'
import { fixturesOf } from '../../content/fixtures.ts'
import type { RecordingLine, RecordingStart } from '../../model/recording.ts'
import { compileScenario } from '../../scenarios/compile.ts'
import { createLibrary, loadReader } from '../../scenarios/library.ts'
import { assemble, optionsOf } from '../../server.ts'
import { readRecording } from '../../world/recording.ts'
import type { Log } from '../../world/sandbox.ts'
import type { ReplayDifference } from './differences.ts'
import { createReplayRuntime, createTimerCheck } from './replay-runtime.ts'
import { ReplayedCalls } from './replayed-calls.ts'

/** The result of a replay. */
export type ReplayResult = {
  calls: number
  /** The number of webhook attempts, and by event. */
  webhooks: number
  webhook_events: Record<string, number>
  /** The number of client timers that ran, also within a call that moved the clock, and by kind. */
  timers: number
  timer_kinds: Record<string, number>
  /** The first difference from the recording. */
  difference: ReplayDifference | undefined
  /** Further information for the user. */
  notes: string[]
}

/**
 * Replays a recording in a new sandbox in this process, and compares every response and every webhook with the recorded
 * one, byte for byte, up to the first difference. Sends no webhook to a receiver. Throws `BadRecording`.
 */
export async function replayRun(text: string, log: Log): Promise<ReplayResult> {
  const recording = readRecording(text)
  const { start, lines, isTorn } = recording
  const notes: string[] = []
  let difference: ReplayDifference | undefined
  let isFinished = false
  if (isTorn) notes.push('the last line is incomplete and was ignored')
  if (start.version !== VERSION)
    notes.push(`recorded by version ${start.version}, replayed by ${VERSION}`)
  const onDifference = (found: ReplayDifference) => {
    // Calls and timers that end because the replay stops are not part of the run.
    if (!isFinished) difference ??= found
  }

  const replay = createReplayRuntime(recording, onDifference)
  const timers = createTimerCheck(recording, onDifference)
  const calls = new ReplayedCalls({ setTime: replay.setTime, onDifference })
  await loadReader()
  const { sandbox, app } = await assembleRecorded(
    start,
    { runtime: () => replay.runtime, timerRan: timers.onTimer, watch: calls.observer },
    log,
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  calls.port = (app.server.address() as AddressInfo).port

  async function replayLine(line: RecordingLine) {
    if ('call' in line) return calls.send(line)
    if ('body' in line) return calls.sendBody(line)
    if ('hang_up' in line) return calls.hangUp(line)
    if ('response' in line) return calls.compareResponse(line)
    if ('timer' in line) {
      replay.setTime(line.at)
      replay.fireTimer(line.timer)
    }
    if ('sent' in line) {
      replay.setTime(line.at)
      replay.completeSend(line.sent, line.result)
    }
    if ('ran' in line) return timers.next()
  }

  try {
    for (const line of lines) {
      timers.checkExtra()
      await replayLine(line)
      // Let all its consequences happen before the next line.
      await new Promise(setImmediate)
      if (difference) break
    }
    // Copied before the stop below adds more of them.
    return {
      calls: calls.sent,
      webhooks: replay.sends,
      webhook_events: { ...replay.events },
      timers: timers.count,
      timer_kinds: { ...timers.kinds },
      difference,
      notes,
    }
  } finally {
    isFinished = true
    calls.close()
    sandbox.stop()
    app.closeAllConnections()
    await app.close()
    await sandbox.close()
  }
}

/** Starts the recorded sandbox, in memory. */
function assembleRecorded(
  start: RecordingStart,
  hooks: Pick<Parameters<typeof assemble>[1], 'runtime' | 'timerRan' | 'watch'>,
  log: Log,
) {
  const recorded = Object.entries(start.options).map(([key, value]) => [swapDashes(key), value])
  const options = optionsOf({ ...Object.fromEntries(recorded), memory: true })
  const library = createLibrary(
    new Map(
      start.scenarios.map(({ name, file, definition, source }) => [
        name,
        { file, source, scenario: compileScenario(definition as never, name) },
      ]),
    ),
  )
  const { imposes } = start
  return assemble(
    options,
    { fixtures: fixturesOf(start.fixtures), library, imposes, ...hooks },
    log,
  )
}
