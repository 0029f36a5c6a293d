import { SandboxError } from '../model/errors.ts'
import { type Library, loadReader } from '../scenarios/library.ts'
import type { Problem } from '../scenarios/read.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'
import type { ScenarioDefinition } from '../scenarios/scenario-schema.ts'

/** The name of a scenario that has a definition and is not in the library. */
export const INLINE = 'inline'

/** A valid definition, and warnings about what is allowed but looks like a mistake. */
export type Checked<T> = { definition: T; warnings: string[] }

/** The error of an invalid scenario or rule at `root` of a body. */
const invalidDefinition = ([first, ...more]: readonly Problem[], root: '' | 'definition') => {
  const fieldOf = ({ path }: Problem) => [root, path].filter(Boolean).join('.') || 'body'
  return new SandboxError(
    'validation_failed',
    `The ${root ? 'scenario' : 'rule'} is invalid: ${fieldOf(first!)}: ${first!.message}`,
    {
      errors: [first!, ...more].map((problem) => ({
        field: fieldOf(problem),
        code: 'invalid_value',
        message: problem.message,
      })),
    },
  )
}

const warningTexts = (warnings: readonly Problem[]) =>
  warnings.map(({ path, message }) => (path ? `${path}: ${message}` : message))

/** Checks a scenario given as JSON; throws if it is invalid. */
export async function checkScenario(
  value: unknown,
  library: Library,
): Promise<Checked<ScenarioDefinition>> {
  const { readDefinition } = await loadReader()
  const read = readDefinition(value, { name: INLINE, file: 'definition' })
  if (!read.ok) throw invalidDefinition(read.problems, 'definition')
  const [unknown] = library.checkNames(read.scenario)
  if (unknown)
    throw new SandboxError('validation_failed', `The scenario is invalid: ${unknown.message}.`)
  return { definition: read.scenario.definition, warnings: warningTexts(read.warnings) }
}

/** Loads the function that checks one rule given as JSON and throws if it is invalid. */
export async function createRuleCheck() {
  const { readRule } = await loadReader()
  return (value: unknown): Checked<RuleDefinition> => {
    const read = readRule(value)
    if (!read.ok) throw invalidDefinition(read.problems, '')
    return { definition: read.rule, warnings: warningTexts(read.warnings) }
  }
}
