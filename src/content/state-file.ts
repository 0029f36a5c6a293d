import { createHash } from 'node:crypto'
import { canCompile } from '../active-scenario/current-scenario.ts'
import { textOf } from '../config/files.ts'
import { type Problem, problemText } from '../model/errors.ts'
import { isObject } from '../model/formats.ts'
import type { Library } from '../scenarios/library.ts'
import type { ScenarioDefinition } from '../scenarios/scenario-schema.ts'
import { DamagedFile, FORMAT, OtherFormat } from '../store/errors.ts'
import type { DataDocument } from '../store/states.ts'
import { parseFile } from './fixture-files.ts'
import { BadFixtures, type FixtureWorlds } from './fixtures.ts'
import { type JsonPath, parseJson, problemsIn } from './json-text.ts'
import { type StateProblem, StateReader } from './read-state.ts'
import { isDataFile, type Known, rowsOfState, type State } from './state.ts'

const MAX_PROBLEMS = 20

function placed(problems: readonly StateProblem[], file: string, text?: string): Problem[] {
  const problemOf = problemsIn(file, text)
  return problems.slice(0, MAX_PROBLEMS).map(({ path, message }) => problemOf(path, message))
}

// ---- the data file

/** Reads a data file that this program did not write as it is. Throws `DamagedFile` with all problems. */
export async function readDataFile(file: string, bytes: Buffer): Promise<DataDocument> {
  let text: string
  try {
    text = textOf(bytes)
  } catch (error) {
    throw new DamagedFile(`${file} ${(error as Error).message}`)
  }
  const parsed = parseJson(text)
  if ('fault' in parsed) throw new DamagedFile(problemText({ file, path: '', ...parsed.fault }))
  const { value } = parsed
  const format = isObject(value) ? value['format'] : undefined
  if (typeof format === 'number' && format !== FORMAT) throw new OtherFormat(file, format)
  const reader = new StateReader()
  const document = await reader.document(value)
  const { problems } = reader
  if (problems.length === 0) return document
  const shown = placed(problems, file, text).map(problemText)
  const more = problems.length - shown.length
  throw new DamagedFile([...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'))
}

// ---- --state, and a file to import

type Source = { content: unknown; file: string; text?: string }

const openSource = (source: string | object): Source =>
  typeof source === 'string'
    ? { ...parseFile(source), file: source }
    : { content: source, file: 'state' }

function scenarioProblem({ scenario, start }: State, library: Library, path: JsonPath) {
  const { scenarios = {} } = (start ?? {}) as { scenarios?: Readonly<Record<string, unknown>> }
  const { name, definition } = scenario
  const choice = { name, ...(definition && { definition: definition as ScenarioDefinition }) }
  const needed = (definition?.['extends'] as string | undefined) ?? name
  if (canCompile(library, choice) || Object.hasOwn(scenarios, needed)) return []
  const at = [...path, 'scenario', 'name']
  return [{ path: at, message: library.unknown(needed), code: 'invalid_value' }]
}

/** The states of a source by client, checked; a state alone is that of the default client. Throws `BadFixtures`. */
async function statesIn(
  { content, file, text }: Source,
  known?: (client: string) => Known,
  library?: Library,
): Promise<[client: string, state: State][]> {
  const isWhole = isDataFile(content)
  const reader = new StateReader({ known })
  const states = isWhole
    ? (await reader.document(content)).clients
    : { default: await reader.state(content, [], 'default') }
  const found = Object.entries(states) as [string, unknown][] as [string, State][]
  let { problems } = reader
  if (library && problems.length === 0)
    problems = found.flatMap(([client, state]) =>
      scenarioProblem(state, library, isWhole ? ['clients', client] : []),
    )
  if (problems.length > 0) throw new BadFixtures(placed(problems, file, text))
  return found
}

/** The content of a file of states, or such a value, to send to a sandbox. Throws `BadFixtures` with all problems. */
export async function stateContent(source: string | object): Promise<unknown> {
  const opened = openSource(source)
  await statesIn(opened)
  return opened.content
}

/** The clients of a state or a whole data file, with which a sandbox starts. Throws `BadFixtures` with all problems. */
export async function readStates(
  source: string | object,
  { fixtures, library }: { fixtures: FixtureWorlds; library: Library },
): Promise<FixtureWorlds> {
  function known(name: string): Known {
    const { client, webhook } = fixtures.get(name)?.rows ?? {}
    return { ...client?.[0], secretOf: () => webhook?.[0]?.webhook_secret }
  }
  const states = await statesIn(openSource(source), known, library)
  return new Map(
    states.map(([client, state]) => {
      const rows = rowsOfState(client, state)
      const { draws, start = {} } = state
      const digest = createHash('sha256')
        .update(JSON.stringify([rows, draws]))
        .digest('hex')
      const key = `state ${client} ${digest.slice(0, 16)}`
      return [client, { key, rows, state: { draws, start } }]
    }),
  )
}
