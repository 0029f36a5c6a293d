// active-scenario/: the scenario of one client while it runs: which one is active, the rules that were pushed on top of
// it, how often each has acted, what it expects, and its timeline. What a scenario means is in scenarios/.

import { type Problem, SandboxError } from '../model/errors.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import { type Library, loadReader, withOwn } from '../scenarios/library.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'

/** The name of a scenario that has a definition and is not in the library. */
export const INLINE = 'inline'

/** A valid definition, and warnings about what is allowed but looks like a mistake. */
export type Checked<T> = { definition: T; warnings: string[] }

/** The error of an invalid scenario at `root` of a body, or of a body that is an invalid rule. */
const invalidDefinition = ([first, ...more]: readonly Problem[], root: string) => {
  const fieldOf = ({ path }: Problem) => [root, path].filter(Boolean).join('.') || 'body'
  const message = `The ${root ? 'scenario' : 'rule'} is invalid: ${fieldOf(first!)}: ${first!.message}`
  const errors = [first!, ...more].map((problem) => ({
    field: fieldOf(problem),
    code: 'invalid_value',
    message: problem.message,
  }))
  return new SandboxError('validation_failed', message, { errors })
}

const warningTexts = (warnings: readonly Problem[]) =>
  warnings.map(({ path, message }) => (path ? `${path}: ${message}` : message))

async function readValid(value: unknown, name: string, root: string) {
  const { readDefinition } = await loadReader()
  const read = readDefinition(value, { name, file: root })
  if (!read.ok) throw invalidDefinition(read.problems, root)
  return read
}

function checkNames(scenario: CompiledScenario, library: Library, what: string) {
  const [unknown] = library.checkNames(scenario)
  if (unknown)
    throw new SandboxError('validation_failed', `${what} is invalid: ${unknown.message}.`)
}

export async function checkScenario(value: unknown, library: Library) {
  const { scenario, warnings } = await readValid(value, INLINE, 'definition')
  checkNames(scenario, library, 'The scenario')
  return { definition: scenario.definition, warnings: warningTexts(warnings) }
}

/** Checks the scenarios that a client brings, by name; throws if one is invalid. */
export async function checkScenarios(values: Readonly<Record<string, unknown>>, library: Library) {
  const scenarios: CompiledScenario[] = []
  for (const [name, value] of Object.entries(values))
    scenarios.push((await readValid(value, name, `scenarios.${name}`)).scenario)
  const own = Object.fromEntries(scenarios.map(({ name, definition }) => [name, definition]))
  const all = withOwn(library, own)
  for (const scenario of scenarios) checkNames(scenario, all, `The scenario ${scenario.name}`)
  return own
}

export async function checkRule(value: unknown): Promise<Checked<RuleDefinition>> {
  const { readRule, ruleWarnings } = await loadReader()
  const read = readRule(value)
  if (!read.ok) throw invalidDefinition(read.problems, '')
  return { definition: read.data, warnings: warningTexts(ruleWarnings(read.data)) }
}
