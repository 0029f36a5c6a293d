import type * as z from 'zod'
import { type Problem, problemText } from '../core/problem.ts'
import { quoteInput } from '../model/mask.ts'
import { checkFieldsOf, checkValue, checkWhen } from './check-conditions.ts'
import { checkRule } from './check-rule.ts'
import { checkScenario } from './check-scenario.ts'
import { compileScenario } from './compile.ts'
import type { CompiledScenario } from './compiled.ts'
import { CallMatch, Fields } from './condition-schema.ts'
import { explain, faultsOf, type SchemaFault } from './explain.ts'
import { type Findings, isMapping, noFindings } from './findings.ts'
import { Rule, type RuleDefinition } from './rule-schema.ts'
import { Scenario, type ScenarioDefinition } from './schema.ts'
import { unreachableIn } from './shadow.ts'
import { MAX_LEVELS, type Path, readYaml, type Source } from './yaml-source.ts'

export { type Problem, problemText }

/** A scenario that may be used, or why not: all problems at once, in the order of the file. */
export type ReadResult =
  | {
      ok: true
      scenario: CompiledScenario
      warnings: Problem[]
      problemAt: (path: Path, message: string) => Problem
    }
  | { ok: false; problems: Problem[]; warnings: Problem[] }

const MAX_PROBLEMS = 50
const MAX_CHARACTERS = 64 * 1024

const pathText = (path: Path) =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${quoteInput(String(key))}`))
    .join('')
    .replace(/^\./, '')

const startsWith = (path: Path, start: Path) => start.every((key, i) => path[i] === key)

const isAt = (a: Path, b: Path) => a.length === b.length && startsWith(a, b)

/** The `when` that a path leads into, past its own key. */
function whenAround(path: Path): Path | undefined {
  const at = path.lastIndexOf('when')
  return at < 0 || at === path.length - 1 ? undefined : path.slice(0, at + 1)
}

type SchemaFinding = Pick<Findings, 'faults' | 'warnings'>

/** What the schema found, less what a check tells better: conditions have a hundred shapes, and a union of all names none. */
function joined(fromSchema: readonly SchemaFault[], { faults, warnings }: Findings): SchemaFinding {
  const left = fromSchema.filter(({ path }) => {
    const when = whenAround(path)
    if (
      when &&
      path.length > when.length + 1 &&
      faults.some((fault) => startsWith(fault.path, when))
    )
      return false
    if (
      when &&
      path.at(when.length) === 'operation' &&
      faults.some((fault) => startsWith(fault.path, path))
    )
      return false
    if (path.at(-1) === 'when' && faults.some((fault) => isAt(fault.path, path.slice(0, -1))))
      return false
    return !faults.some((fault) => isAt(fault.path, path))
  })
  return { faults: [...left, ...faults], warnings }
}

function check(value: unknown): SchemaFinding & { definition: ScenarioDefinition | undefined } {
  const result = Scenario.safeParse(value, { error: explain, reportInput: true })
  const fromSchema = result.success ? [] : faultsOf(result.error.issues)
  const clean = (path: Path) => !fromSchema.some((fault) => startsWith(fault.path, path))
  const findings = joined(fromSchema, checkScenario(value, clean))
  return { ...findings, definition: result.success ? result.data : undefined }
}

const byPlace = (a: Problem, b: Problem) => a.line - b.line || a.column - b.column

function finish(
  value: unknown,
  name: string,
  problemAt: (path: Path, message: string, of?: 'key' | 'value') => Problem,
  earlier: Problem[],
): ReadResult {
  const { faults, warnings: told, definition } = check(value)
  const asProblem = ({ path, of, message }: SchemaFault) => problemAt(path, message, of)
  const warnings = told.map(asProblem)
  // A value that the text spoils (a number that loses its form) is not complained about twice.
  const isNew = ({ line, column }: Problem) =>
    line === 0 || !earlier.some((one) => one.line === line && one.column === column)
  const problems = [...earlier, ...faults.map(asProblem).filter(isNew)]
    .sort(byPlace)
    .slice(0, MAX_PROBLEMS)
  if (problems.length > 0 || !definition)
    return { ok: false, problems, warnings: warnings.slice(0, MAX_PROBLEMS) }
  const scenario = compileScenario(definition, name)
  for (const { list, index, message } of unreachableIn(scenario))
    warnings.push(problemAt([list, index], message))
  return { ok: true, scenario, warnings: warnings.sort(byPlace).slice(0, MAX_PROBLEMS), problemAt }
}

/** Reads the text of a scenario file; `name` is what the scenario is called, `file` what messages call the file. */
export function readScenario(
  text: string,
  { name, file }: { name: string; file: string },
): ReadResult {
  const source: Source = readYaml(text)
  const earlier = source.faults.map(({ line, column, message }) => ({
    file,
    line,
    column,
    path: '',
    message,
  }))
  if (source.value === undefined) return { ok: false, problems: earlier, warnings: [] }
  const problemAt = (path: Path, message: string, of: 'key' | 'value' = 'value') => ({
    file,
    ...source.placeOf(path, of),
    path: pathText(path),
    message,
  })
  return finish(source.value, name, problemAt, earlier)
}

/** What makes a JSON value unfit to be looked at: too deep or too large, or a key that reaches for a prototype. */
function unfit(value: unknown): SchemaFault | undefined {
  const open: [unknown, Path][] = [[value, []]]
  let characters = 0
  for (let next = open.pop(); next; next = open.pop()) {
    const [inner, path] = next
    characters += typeof inner === 'string' ? inner.length : 4
    if (characters > MAX_CHARACTERS) {
      return {
        path: [],
        of: 'value',
        message: 'it is over 64 KiB; make it smaller',
      }
    }
    if (typeof inner !== 'object' || inner === null) continue
    if (path.length >= MAX_LEVELS) {
      return {
        path: path.slice(0, 4),
        of: 'value',
        message: `more than ${MAX_LEVELS} levels of mappings and lists`,
      }
    }
    for (const [key, below] of Object.entries(inner)) {
      if (key === '__proto__') {
        return { path, of: 'value', message: 'the key __proto__ is not taken; use another name' }
      }
      characters += key.length
      open.push([below, [...path, Array.isArray(inner) ? Number(key) : key]])
    }
  }
  return undefined
}

const jsonProblem = (file: string) => (path: Path, message: string) => ({
  file,
  line: 0,
  column: 0,
  path: pathText(path),
  message,
})

/** Checks a scenario that came as JSON; `file` is what messages call it. */
export function readDefinition(
  value: unknown,
  { name, file }: { name: string; file: string },
): ReadResult {
  const problemAt = jsonProblem(file)
  const bad = unfit(value)
  if (bad) return { ok: false, problems: [problemAt(bad.path, bad.message)], warnings: [] }
  return finish(value, name, problemAt, [])
}

/** A rule that may be pushed, or why not. */
export type ReadRuleResult =
  | { ok: true; rule: RuleDefinition; warnings: Problem[] }
  | { ok: false; problems: Problem[] }

/** Checks one rule that came as JSON. Compile it as a scenario of one rule, named after the id that it gets. */
export function readRule(value: unknown, file = 'rule'): ReadRuleResult {
  const problemAt = jsonProblem(file)
  const bad = unfit(value)
  if (bad) return { ok: false, problems: [problemAt(bad.path, bad.message)] }
  const result = Rule.safeParse(value, { error: explain, reportInput: true })
  const fromSchema = result.success ? [] : faultsOf(result.error.issues)
  const findings = noFindings()
  checkRule(
    value,
    [],
    (path) => !fromSchema.some((fault) => startsWith(fault.path, path)),
    findings,
  )
  const { faults, warnings } = joined(fromSchema, findings)
  const asProblem = ({ path, message }: SchemaFault) => problemAt(path, message)
  if (faults.length > 0 || !result.success)
    return { ok: false, problems: faults.slice(0, MAX_PROBLEMS).map(asProblem) }
  return { ok: true, rule: result.data, warnings: warnings.map(asProblem) }
}

/** What a call of the request log must be like, as `match` says it. */
export type MatchDefinition = z.infer<typeof CallMatch>

/** What the fields of a resource must be like. */
export type FieldsDefinition = z.infer<typeof Fields>

type ReadMatchResult<T> = { ok: true; match: T } | { ok: false; problems: Problem[] }

/** Checks a `match` by a schema and a check of conditions, which speak as they do of the `when` of a rule. */
function readConditions<S extends z.ZodType>(
  value: unknown,
  schema: S,
  checkAll: (value: Record<string, unknown>, path: Path, findings: Findings) => void,
): ReadMatchResult<z.output<S>> {
  const told = jsonProblem('match')
  const problemAt = ({ path, message }: SchemaFault) => told(path.slice(1), message)
  const bad = unfit(value)
  if (bad) return { ok: false, problems: [told(bad.path, bad.message)] }
  const result = schema.safeParse(value, { error: explain, reportInput: true })
  const fromSchema = result.success ? [] : faultsOf(result.error.issues, ['when'])
  const findings = noFindings()
  if (isMapping(value)) checkAll(value, ['when'], findings)
  const { faults } = joined(fromSchema, findings)
  if (faults.length > 0 || !result.success)
    return { ok: false, problems: faults.slice(0, MAX_PROBLEMS).map(problemAt) }
  return { ok: true, match: result.data }
}

/** Checks what a call of the request log must be like. */
export const readMatch = (value: unknown): ReadMatchResult<MatchDefinition> =>
  readConditions(value, CallMatch, (match, path, findings) => {
    checkWhen(match, path, findings)
    for (const name of ['path', 'status'])
      if (match[name] !== undefined) checkValue(match[name], [...path, name], findings)
  })

/** Checks what the fields of a resource must be like. */
export const readFields = (value: unknown): ReadMatchResult<FieldsDefinition> =>
  readConditions(value, Fields, (fields, path, findings) =>
    checkFieldsOf(fields, [...path], findings),
  )
