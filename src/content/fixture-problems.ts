import { type Problem, problemText } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import type { JsonPath } from './json-text.ts'

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

/** Problems that have no line and column yet. */
export class FixtureError extends Error {
  readonly problems: readonly ReturnType<typeof problemAt>[]
  constructor(problems: readonly ReturnType<typeof problemAt>[]) {
    super('invalid fixtures')
    this.problems = problems
  }
}

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
