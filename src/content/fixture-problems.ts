import { type Problem, problemText } from '../model/errors.ts'
import { fieldOf } from '../model/validation-errors.ts'
import type { JsonPath } from './json-text.ts'

/** A problem of a set: `at` is its path in the file, until its place is known. */
export type FixtureProblem = Problem & { at?: JsonPath }

/** An invalid fixture set or state. The message has one line per problem, with file, position and path. */
export class BadFixtures extends Error {
  readonly problems: readonly FixtureProblem[]
  constructor(problems: readonly FixtureProblem[]) {
    super(problems.map(problemText).join('\n'))
    this.name = 'BadFixtures'
    this.problems = problems
  }
}

/** A problem at a path whose place is not known yet; without a path, it is one of the file itself. */
export const problemAt = (file: string, message: string, at?: JsonPath): FixtureProblem => ({
  file,
  line: 0,
  column: 0,
  path: fieldOf(at ?? []),
  message,
  ...(at && { at }),
})
