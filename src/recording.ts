import { readFileSync } from 'node:fs'
import type { OptionName, Options } from './config/options.ts'
import { VERSION } from './config/version.ts'
import { createRecorder, type Recorder } from './core/recorder.ts'
import type { RecordingStart } from './model/recording.ts'
import type { Log } from './sandbox.ts'
import type { Library } from './scenarios/library.ts'
import { loadReader } from './scenarios/reader.ts'
import { scenarioPath } from './scenarios/shipped.ts'
import { fixtureContent } from './services/fixtures.ts'

/** Options that say where something is or who is told, and change no answer; what stands in files is recorded itself. */
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
  'reset',
])

const recordedOptions = (options: Options) =>
  Object.fromEntries(
    Object.entries(options).filter(
      ([name, value]) => !UNRECORDED.has(name as OptionName) && value !== undefined,
    ),
  )

const scenariosOf = ({ names, get, fileOf }: Library): RecordingStart['scenarios'] =>
  names.map((name) => {
    const file = fileOf(name)!
    const source = readFileSync(scenarioPath(file), 'utf8')
    return { name, file, definition: get(name)!.definition, source }
  })

/** A file that a run can't be recorded in. */
export class CannotRecord extends Error {}

function openRecorder(file: string, log: Log): Recorder {
  try {
    return createRecorder({
      file,
      onFailure: (error) =>
        log.error(`The recording ${file} ends here; it cannot be written`, error),
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CannotRecord(
      `The recording ${file} cannot be written (${code}). Use --record FILE in a folder of yours.`,
    )
  }
}

/** Begins the recording that these options ask for, if they do. */
export async function startRecorder(
  options: Options,
  fixtures: string,
  library: Library,
  log: Log,
): Promise<Recorder | undefined> {
  const file = options.record
  if (file === undefined) return undefined
  await loadReader()
  const recorder = openRecorder(file, log)
  recorder.begin({
    recording: 1,
    version: VERSION,
    at: recorder.startedAt,
    options: recordedOptions(options),
    fixtures: fixtureContent(fixtures),
    scenarios: scenariosOf(library),
  })
  return recorder
}
