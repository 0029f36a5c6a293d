import { readFileSync } from 'node:fs'
import { type JsonPath, type JsonPlaces, jsonPlaces } from '../json/json-positions.ts'
import { type Problem, problemText } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'

/** An invalid fixture set. The message has one line per problem, with file, position and path. */
export class BadFixtures extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(problems.map(problemText).join('\n'))
    this.name = 'BadFixtures'
    this.problems = problems
  }
}

const pathText = (path: JsonPath) =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${quoteInput(key)}`))
    .join('')
    .replace(/^\./, '')

/** A problem without a position: the set is not a file, or the file was not searched yet. */
export const problemAt = (
  file: string,
  path: JsonPath,
  message: string,
): Problem & { at: JsonPath } => ({
  file,
  line: 0,
  column: 0,
  path: pathText(path),
  message,
  at: path,
})

/** Adds line and column to the problems of files; only an invalid set has this cost. */
export function withPositions(problems: readonly ReturnType<typeof problemAt>[]): Problem[] {
  const texts = new Map<string, JsonPlaces>()
  return problems.map(({ at, ...problem }) => {
    const { file, path, message } = problem
    const position = texts.get(file) ?? jsonPlaces(textOf(file))
    texts.set(file, position)
    return { ...problem, ...position.placeOf(at), message: path ? `${path}: ${message}` : message }
  })
}

/** Problems that have no line and column yet. */
export class FixtureError extends Error {
  readonly problems: readonly ReturnType<typeof problemAt>[]
  constructor(problems: readonly ReturnType<typeof problemAt>[]) {
    super('invalid fixtures')
    this.problems = problems
  }
}

/** A file's text, without a byte order mark. */
export const textOf = (file: string) => readFileSync(file, 'utf8').replace(/^\ufeff/, '')

/** Runs a reader and turns its `FixtureError` into `BadFixtures`; `position` can add lines and columns. */
export function toBadFixtures<T>(
  read: () => T,
  places = (problems: FixtureError['problems']): Problem[] => [...problems],
): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof FixtureError ? new BadFixtures(places(error.problems)) : error
  }
}
