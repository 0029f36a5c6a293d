import type * as z from 'zod'
import { quoteInput } from '../model/mask.ts'
import { type Problem, problemText } from '../model/problem.ts'
import { checkResourceFields, checkScalarCondition, checkWhen } from './check-conditions.ts'
import { checkRule } from './check-rule.ts'
import { checkScenario } from './check-scenario.ts'
import { compileScenario } from './compile.ts'
import type { CompiledScenario } from './compiled.ts'
import { CallMatch, Fields } from './condition-schema.ts'
import { explain, type SchemaError, schemaErrorsOf } from './explain.ts'
import { createFindings, type Findings, isMapping } from './findings.ts'
import { Rule, type RuleDefinition } from './rule-schema.ts'
import { Scenario, type ScenarioDefinition } from './schema.ts'
import { unreachableIn } from './shadow.ts'
import { MAX_NESTING, type Path, readYaml, type Source } from './yaml-source.ts'

export { type Problem, problemText }

/** A valid scenario, or all its problems in the order of the file. */
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

/** Returns the path of the `when` that a path points into; `undefined` if it points to no value inside a `when`. */
function enclosingWhen(path: Path): Path | undefined {
  const at = path.lastIndexOf('when')
  return at < 0 || at === path.length - 1 ? undefined : path.slice(0, at + 1)
}

type SchemaFinding = Pick<Findings, 'errors' | 'warnings'>

/**
 * Merges the errors of the schema with those of the checks. Drops a schema error where a check reports the same mistake:
 * conditions are a union of many shapes, so the schema can only say that no shape fits.
 */
function mergeFindings(
  schemaErrors: readonly SchemaError[],
  { errors, warnings }: Findings,
): SchemaFinding {
  const remaining = schemaErrors.filter(({ path }) => {
    const when = enclosingWhen(path)
    if (
      when &&
      path.length > when.length + 1 &&
      errors.some((fault) => startsWith(fault.path, when))
    )
      return false
    if (
      when &&
      path.at(when.length) === 'operation' &&
      errors.some((fault) => startsWith(fault.path, path))
    )
      return false
    if (path.at(-1) === 'when' && errors.some((fault) => isAt(fault.path, path.slice(0, -1))))
      return false
    return !errors.some((fault) => isAt(fault.path, path))
  })
  return { errors: [...remaining, ...errors], warnings }
}

function check(value: unknown): SchemaFinding & { definition: ScenarioDefinition | undefined } {
  const result = Scenario.safeParse(value, { error: explain, reportInput: true })
  const schemaErrors = result.success ? [] : schemaErrorsOf(result.error.issues)
  const clean = (path: Path) => !schemaErrors.some((fault) => startsWith(fault.path, path))
  const findings = mergeFindings(schemaErrors, checkScenario(value, clean))
  return { ...findings, definition: result.success ? result.data : undefined }
}

const byPosition = (a: Problem, b: Problem) => a.line - b.line || a.column - b.column

function buildResult(
  value: unknown,
  name: string,
  problemAt: (path: Path, message: string, of?: 'key' | 'value') => Problem,
  sourceProblems: Problem[],
): ReadResult {
  const { errors, warnings: foundWarnings, definition } = check(value)
  const asProblem = ({ path, of, message }: SchemaError) => problemAt(path, message, of)
  const warnings = foundWarnings.map(asProblem)
  // A value that the YAML reader has rejected (such as a number that loses digits) is reported only once.
  const isNew = ({ line, column }: Problem) =>
    line === 0 || !sourceProblems.some((one) => one.line === line && one.column === column)
  const problems = [...sourceProblems, ...errors.map(asProblem).filter(isNew)]
    .sort(byPosition)
    .slice(0, MAX_PROBLEMS)
  if (problems.length > 0 || !definition)
    return { ok: false, problems, warnings: warnings.slice(0, MAX_PROBLEMS) }
  const scenario = compileScenario(definition, name)
  for (const { list, index, message } of unreachableIn(scenario))
    warnings.push(problemAt([list, index], message))
  return {
    ok: true,
    scenario,
    warnings: warnings.sort(byPosition).slice(0, MAX_PROBLEMS),
    problemAt,
  }
}

/** Parses and checks the text of a scenario file. `name` is the scenario's name; problems name the file as `file`. */
export function readScenario(
  text: string,
  { name, file }: { name: string; file: string },
): ReadResult {
  const source: Source = readYaml(text)
  const sourceProblems = source.errors.map(({ line, column, message }) => ({
    file,
    line,
    column,
    path: '',
    message,
  }))
  if (source.value === undefined) return { ok: false, problems: sourceProblems, warnings: [] }
  const problemAt = (path: Path, message: string, of: 'key' | 'value' = 'value') => ({
    file,
    ...source.positionOf(path, of),
    path: pathText(path),
    message,
  })
  return buildResult(source.value, name, problemAt, sourceProblems)
}

/** Returns why a JSON value is not safe to check: it is nested too deeply, too large, or has the key `__proto__`. */
function findUnsafeValue(value: unknown): SchemaError | undefined {
  const pending: [unknown, Path][] = [[value, []]]
  let characters = 0
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [inner, path] = next
    characters += typeof inner === 'string' ? inner.length : 4
    if (characters > MAX_CHARACTERS) {
      return {
        path: [],
        of: 'value',
        message: 'it is larger than 64 KiB; make it smaller',
      }
    }
    if (typeof inner !== 'object' || inner === null) continue
    if (path.length >= MAX_NESTING) {
      return {
        path: path.slice(0, 4),
        of: 'value',
        message: `more than ${MAX_NESTING} levels of mappings and lists`,
      }
    }
    for (const [key, below] of Object.entries(inner)) {
      if (key === '__proto__') {
        return { path, of: 'value', message: 'the key __proto__ is not allowed; use another name' }
      }
      characters += key.length
      pending.push([below, [...path, Array.isArray(inner) ? Number(key) : key]])
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

/** Checks a scenario that was sent as JSON; problems name it as `file`. */
export function readDefinition(
  value: unknown,
  { name, file }: { name: string; file: string },
): ReadResult {
  const problemAt = jsonProblem(file)
  const unsafe = findUnsafeValue(value)
  if (unsafe) return { ok: false, problems: [problemAt(unsafe.path, unsafe.message)], warnings: [] }
  return buildResult(value, name, problemAt, [])
}

/** A valid rule, or all its problems. */
export type ReadRuleResult =
  | { ok: true; rule: RuleDefinition; warnings: Problem[] }
  | { ok: false; problems: Problem[] }

/** Checks one rule that was sent as JSON. To compile it, make it a scenario of one rule whose name is the rule's id. */
export function readRule(value: unknown, file = 'rule'): ReadRuleResult {
  const problemAt = jsonProblem(file)
  const unsafe = findUnsafeValue(value)
  if (unsafe) return { ok: false, problems: [problemAt(unsafe.path, unsafe.message)] }
  const result = Rule.safeParse(value, { error: explain, reportInput: true })
  const schemaErrors = result.success ? [] : schemaErrorsOf(result.error.issues)
  const findings = createFindings()
  checkRule(
    value,
    [],
    (path) => !schemaErrors.some((fault) => startsWith(fault.path, path)),
    findings,
  )
  const { errors, warnings } = mergeFindings(schemaErrors, findings)
  const asProblem = ({ path, message }: SchemaError) => problemAt(path, message)
  if (errors.length > 0 || !result.success)
    return { ok: false, problems: errors.slice(0, MAX_PROBLEMS).map(asProblem) }
  return { ok: true, rule: result.data, warnings: warnings.map(asProblem) }
}

/** A `match`: the conditions that a call of the request log must meet. */
export type MatchDefinition = z.infer<typeof CallMatch>

/** The conditions that the fields of a resource must meet. */
export type FieldsDefinition = z.infer<typeof Fields>

type ReadMatchResult<T> = { ok: true; match: T } | { ok: false; problems: Problem[] }

/** Checks a `match` with a schema and a check of its conditions. The messages are those for the `when` of a rule. */
function readConditions<S extends z.ZodType>(
  value: unknown,
  schema: S,
  checkAll: (value: Record<string, unknown>, path: Path, findings: Findings) => void,
): ReadMatchResult<z.output<S>> {
  const problemAt = jsonProblem('match')
  const asProblem = ({ path, message }: SchemaError) => problemAt(path.slice(1), message)
  const unsafe = findUnsafeValue(value)
  if (unsafe) return { ok: false, problems: [problemAt(unsafe.path, unsafe.message)] }
  const result = schema.safeParse(value, { error: explain, reportInput: true })
  const schemaErrors = result.success ? [] : schemaErrorsOf(result.error.issues, ['when'])
  const findings = createFindings()
  if (isMapping(value)) checkAll(value, ['when'], findings)
  const { errors } = mergeFindings(schemaErrors, findings)
  if (errors.length > 0 || !result.success)
    return { ok: false, problems: errors.slice(0, MAX_PROBLEMS).map(asProblem) }
  return { ok: true, match: result.data }
}

/** Checks a `match` on calls of the request log. */
export const readMatch = (value: unknown): ReadMatchResult<MatchDefinition> =>
  readConditions(value, CallMatch, (match, path, findings) => {
    checkWhen(match, path, findings)
    for (const name of ['path', 'status'])
      if (match[name] !== undefined) checkScalarCondition(match[name], [...path, name], findings)
  })

/** Checks a `match` on the fields of a resource. */
export const readFields = (value: unknown): ReadMatchResult<FieldsDefinition> =>
  readConditions(value, Fields, (fields, path, findings) =>
    checkResourceFields(fields, [...path], findings),
  )
