import { readFileSync } from 'node:fs'
import { type JsonPath, type JsonPlaces, jsonPlaces } from '../core/json-places.ts'
import { type Problem, problemText } from '../core/problem.ts'
import { quoteInput } from '../model/mask.ts'

/** A fixture set that can't be used: one line a problem, each with its file, the place and the path in it. */
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

/** A problem of a set that is not a text, or whose text has not been looked at yet. */
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

/** The problems of files with their places in them: only a set that is refused pays for finding them. */
export function withPositions(problems: readonly ReturnType<typeof problemAt>[]): Problem[] {
  const texts = new Map<string, JsonPlaces>()
  return problems.map(({ at, ...problem }) => {
    const { file, path, message } = problem
    const position = texts.get(file) ?? jsonPlaces(textOf(file))
    texts.set(file, position)
    return { ...problem, ...position.placeOf(at), message: path ? `${path}: ${message}` : message }
  })
}

/** Problems that are yet to get their places. */
export class FixtureError extends Error {
  readonly problems: readonly ReturnType<typeof problemAt>[]
  constructor(problems: readonly ReturnType<typeof problemAt>[]) {
    super('refused')
    this.problems = problems
  }
}

/** A file's text, without a byte order mark. */
export const textOf = (file: string) => readFileSync(file, 'utf8').replace(/^\ufeff/, '')

/** Runs a reader; what it refuses is told with places, if files were read, or by paths. */
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
