// active-scenario/: the scenario of one client while it runs: which one is active, the rules that were pushed on top of
// it, how often each has acted, what it expects, and its timeline. What a scenario means is in scenarios/.

import { SandboxError } from '../model/errors.ts'
import { type Library, loadReader, type OwnScenarios, withOwn } from '../scenarios/library.ts'
import type { Problem } from '../scenarios/read.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'
import type { ScenarioDefinition } from '../scenarios/scenario-schema.ts'

/** The name of a scenario that has a definition and is not in the library. */
export const INLINE = 'inline'

/** A valid definition, and warnings about what is allowed but looks like a mistake. */
export type Checked<T> = { definition: T; warnings: string[] }

/** The error of an invalid scenario at `root` of a body, or of a body that is an invalid rule. */
const invalidDefinition = ([first, ...more]: readonly Problem[], root: string) => {
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

/** Checks the scenarios that a client brings, by name; throws if one is invalid. */
export async function checkScenarios(
  values: Readonly<Record<string, unknown>>,
  library: Library,
): Promise<OwnScenarios> {
  const { readDefinition } = await loadReader()
  const scenarios = Object.entries(values).map(([name, value]) => {
    const root = `scenarios.${name}`
    const read = readDefinition(value, { name, file: root })
    if (!read.ok) throw invalidDefinition(read.problems, root)
    return read.scenario
  })
  const own = Object.fromEntries(scenarios.map(({ name, definition }) => [name, definition]))
  const all = withOwn(library, own)
  for (const scenario of scenarios) {
    const [unknown] = all.checkNames(scenario)
    if (unknown)
      throw new SandboxError(
        'validation_failed',
        `The scenario ${scenario.name} is invalid: ${unknown.message}.`,
      )
  }
  return own
}

/** Loads the function that checks one rule given as JSON and throws if it is invalid. */
export async function createRuleCheck() {
  const { readRule, ruleWarnings } = await loadReader()
  return (value: unknown): Checked<RuleDefinition> => {
    const read = readRule(value)
    if (!read.ok) throw invalidDefinition(read.problems, '')
    return { definition: read.data, warnings: warningTexts(ruleWarnings(read.data)) }
  }
}
