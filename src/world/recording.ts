import { readFileSync } from 'node:fs'
import { type OptionName, type Options, swapDashes } from '../config/options.ts'
import { VERSION } from '../config/package.ts'
import { fixtureContent } from '../content/fixtures.ts'
import { RECORDING_FORMAT, RecordingLine, RecordingStart } from '../model/recording.ts'
import { type Library, loadReader, scenarioPath } from '../scenarios/library.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import type { Log } from './sandbox.ts'

/** A file is not a recording, or is damaged. The message names the line. */
export class BadRecording extends Error {}

/** A parsed recording. `isTorn`: its last line is incomplete. */
export type Recording = { start: RecordingStart; lines: readonly RecordingLine[]; isTorn: boolean }

/** Parses a recording. The last line may be incomplete, because the sandbox was killed. Throws `BadRecording`. */
export function readRecording(text: string): Recording {
  const texts = text.split('\n')
  const isTorn = texts.pop() !== ''
  const values = texts.map((line, i) => {
    try {
      return JSON.parse(line) as unknown
    } catch {
      throw new BadRecording(`line ${i + 1} is not valid JSON`)
    }
  })
  const { recording, version } = (values[0] ?? {}) as Record<string, unknown>
  if (typeof recording === 'number' && recording !== RECORDING_FORMAT)
    throw new BadRecording(
      `this is a recording of format ${recording}, and this version replays format ${RECORDING_FORMAT}; use version ${version} of payout-sandbox, which recorded it`,
    )
  const start = RecordingStart.safeParse(values[0])
  if (!start.success)
    throw new BadRecording(
      'line 1 is not the start of a recording; replay needs a file that --record wrote',
    )
  const lines = values.slice(1).map((value, i) => {
    const line = RecordingLine.safeParse(value)
    if (line.success) return line.data
    throw new BadRecording(`line ${i + 2} is not a valid line of a recording`)
  })
  return { start: start.data, lines, isTorn }
}

/** Options that do not change a response, such as paths and the log level. The content of the files is recorded itself. */
const UNRECORDED: ReadonlySet<OptionName> = new Set([
  'port',
  'data',
  'memory',
  'fixtures',
  'scenarios',
  'watch',
  'fsync',
  'log-level',
  'log-format',
  'record',
  'recover',
  'discard-journal',
  'reset',
])

const recordedOptions = (options: Options) =>
  Object.fromEntries(
    Object.entries(options)
      .filter(([name, value]) => !UNRECORDED.has(name as OptionName) && value !== undefined)
      .map(([name, value]) => [swapDashes(name), value]),
  )

const scenariosOf = ({ names, get, fileOf, sourceOf }: Library): RecordingStart['scenarios'] =>
  names.map((name) => {
    const file = fileOf(name)!
    const source = sourceOf(name) ?? readFileSync(scenarioPath(file), 'utf8')
    return { name, file, definition: get(name)!.definition, source }
  })

/** Starts recording to a file. Throws `CannotRecord` if the file cannot be created. */
export async function startRecorder(
  file: string,
  options: Options,
  { fixtures, library, imposes }: { fixtures: string; library: Library; imposes: boolean },
  log: Log,
): Promise<Recorder> {
  await loadReader()
  // Steps that can fail come first, so that a failed start leaves no file that would block the next start.
  const content = { fixtures: fixtureContent(fixtures), scenarios: scenariosOf(library) }
  const recorder = createRecorder({
    file,
    onFailure: (error) => log.error(`The recording ${file} cannot be written; it ends here`, error),
  })
  recorder.begin({
    recording: RECORDING_FORMAT,
    version: VERSION,
    at: recorder.startedAt,
    options: recordedOptions(options),
    ...(imposes && { imposes: true as const }),
    ...content,
  })
  return recorder
}
