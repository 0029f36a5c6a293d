import type { Scenarios } from '../active-scenario/world-scenarios.ts'
import { TIMELINE_ENTRY } from '../active-scenario/world-scenarios.ts'
import type { FieldError } from '../model/errors.ts'
import { validationFailed } from '../model/validation-errors.ts'
import { checkRows, type NoteProblem } from './check-rows.ts'
import type { StateDocument } from './state-document.ts'

const MAX_ERRORS = 20

/** The errors that no row has alone. */
function* rowErrors({ tables, draws }: StateDocument): Generator<undefined, FieldError[]> {
  const errors: FieldError[] = []
  const addError = (field: string, message: string) => {
    if (errors.length < MAX_ERRORS) errors.push({ field, code: 'invalid_value', message })
  }
  const note: NoteProblem = (table, row, field, problem) => {
    const place = `tables.${table}[${row}]`
    if (problem.kind === 'duplicate') addError(place, 'has the same id as an earlier row')
    else if (problem.kind === 'missing')
      addError(`${place}.${field}`, 'refers to a row that is not in this state')
    else addError(`${place}.${field}`, problem.message)
  }
  if (tables.webhook.length > 1) addError('tables.webhook', 'must have at most 1 row')
  yield* checkRows(tables, note)
  // The number of a rule can be greater: rules survive a reset of the data, which restarts the series.
  for (const [i, { seq }] of tables.timers.entries())
    if (seq > draws) addError(`tables.timers[${i}].seq`, 'must not be greater than draws')
  return errors
}

/** Throws the error of the first invalid rule. */
function* checkRules(check: (rule: unknown) => unknown, rules: StateDocument['tables']['rules']) {
  for (const { definition } of rules) {
    check(definition)
    yield
  }
}

/** Throws the error of the first timeline entry with an unknown scenario or an invalid rule. */
function* checkTimeline(
  scenarios: Scenarios,
  checkRule: (rule: unknown) => unknown,
  timers: StateDocument['tables']['timers'],
) {
  for (const { kind, payload } of timers) {
    if (kind === TIMELINE_ENTRY) {
      const { use, rule } = payload['do'] as { use?: string; rule?: object }
      if (use !== undefined) scenarios.checkName(use)
      if (rule !== undefined) checkRule(rule)
    }
    yield
  }
}

/** Runs a generator with pauses. */
type InSlices = <T>(work: Generator<unknown, T>) => Promise<T>

/** Throws the errors of a document's rows, whose shapes are right. */
export async function checkStateRows(state: StateDocument, inSlices: InSlices) {
  const errors = await inSlices(rowErrors(state))
  if (errors.length > 0) throw validationFailed(errors)
}

/** Throws the errors of a document's scenario, pushed rules and timeline. */
export async function checkStateScenario(
  { scenario, tables }: StateDocument,
  scenarios: Scenarios,
  inSlices: InSlices,
) {
  const { name } = scenario
  const checked = scenario.definition && (await scenarios.check(scenario.definition))
  if (!checked) scenarios.checkName(name)
  const rules = tables.rules.map(({ definition }) => definition)
  scenarios.checkRuleLimits(rules, checked ? { name, definition: checked.definition } : { name })
  await inSlices(checkRules(await scenarios.createRuleCheck(), tables.rules))
  await inSlices(checkTimeline(scenarios, await scenarios.createRuleCheck(), tables.timers))
}
