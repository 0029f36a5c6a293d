import type * as z from 'zod'
import type { Problem } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import { parseSent } from '../model/validation-errors.ts'
import { compileScenario } from './compile.ts'
import type { CompiledScenario } from './compiled.ts'
import { parseWith, type SchemaError } from './explain.ts'
import { lint, lintRule } from './lint.ts'
import { Rule, type RuleDefinition } from './rule-schema.ts'
import { Scenario } from './scenario-schema.ts'
import { CallMatch, Fields } from './when-schema.ts'
import { MAX_NESTING, type Path, readYaml, type Source } from './yaml.ts'

/** A valid scenario with its warnings, or all problems in the order of the file. */
export type ReadResult =
  | {
      ok: true
      scenario: CompiledScenario
      warnings: Problem[]
      problemAt: (path: Path, message: string) => Problem
    }
  | { ok: false; problems: Problem[]; warnings: [] }

const MAX_PROBLEMS = 50
const MAX_CHARACTERS = 64 * 1024

const pathText = (path: Path) =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${quoteInput(String(key))}`))
    .join('')
    .replace(/^\./, '')

const byPosition = (a: Problem, b: Problem) => a.line - b.line || a.column - b.column

function buildResult(
  value: unknown,
  name: string,
  problemAt: (path: Path, message: string, of?: 'key' | 'value') => Problem,
  sourceProblems: Problem[],
  parse?: typeof parseSent<z.output<typeof Scenario>>,
): ReadResult {
  const result = parseWith(Scenario, value, [], parse)
  const asProblem = ({ path, of, message }: SchemaError) => problemAt(path, message, of)
  const errors = result.ok ? [] : result.errors
  // A value that the YAML reader has rejected (such as a number that loses digits) is reported only once.
  const isNew = ({ line, column }: Problem) =>
    line === 0 || !sourceProblems.some((one) => one.line === line && one.column === column)
  const problems = [...sourceProblems, ...errors.map(asProblem).filter(isNew)]
    .sort(byPosition)
    .slice(0, MAX_PROBLEMS)
  if (problems.length > 0 || !result.ok) return { ok: false, problems, warnings: [] }
  const scenario = compileScenario(result.data, name)
  const warnings = lint(scenario).map(asProblem).sort(byPosition).slice(0, MAX_PROBLEMS)
  return { ok: true, scenario, warnings, problemAt }
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
  const unsafe = (path: Path, message: string): SchemaError => ({ path, of: 'value', message })
  const pending: [unknown, Path][] = [[value, []]]
  let characters = 0
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [inner, path] = next
    characters += typeof inner === 'string' ? inner.length : 4
    if (characters > MAX_CHARACTERS) return unsafe([], 'it is larger than 64 KiB; make it smaller')
    if (typeof inner !== 'object' || inner === null) continue
    if (path.length >= MAX_NESTING)
      return unsafe(path.slice(0, 4), `more than ${MAX_NESTING} levels of mappings and lists`)
    for (const [key, below] of Object.entries(inner)) {
      if (key === '__proto__')
        return unsafe(path, 'the key __proto__ is not allowed; use another name')
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
  return buildResult(value, name, problemAt, [], parseSent)
}

type ReadPart<T> = { ok: true; data: T } | { ok: false; problems: Problem[] }

/** Checks a part of a scenario that was sent as JSON. The messages are those for a part at the path `under`. */
function readPart<T>(
  schema: z.ZodType<T>,
  value: unknown,
  file: string,
  under: Path = [],
): ReadPart<T> {
  const problemAt = jsonProblem(file)
  const unsafe = findUnsafeValue(value)
  if (unsafe) return { ok: false, problems: [problemAt(unsafe.path, unsafe.message)] }
  const result = parseWith(schema, value, under, parseSent)
  if (result.ok) return result
  const problems = result.errors
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => problemAt(path.slice(under.length), message))
  return { ok: false, problems }
}

/** Checks one rule. To compile it, make it a scenario of one rule whose name is the rule's id. */
export const readRule = (value: unknown) => readPart(Rule, value, 'rule')

export const ruleWarnings = (rule: RuleDefinition): Problem[] =>
  lintRule(rule).map(({ path, message }) => jsonProblem('rule')(path, message))

/** Checks a `match` on calls of the request log, with the messages for the `when` of a rule. */
export const readMatch = (value: unknown) => readPart(CallMatch, value, 'match', ['when'])

export const readFields = (value: unknown) => readPart(Fields, value, 'match', ['when'])

/** A `match`: the conditions that a call of the request log must meet. */
export type MatchDefinition = z.infer<typeof CallMatch>
