import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { checkRule } from '../../active-scenario/check-definition.ts'
import { textOf } from '../../config/files.ts'
import { adminCall, outlineOf } from '../../http/admin-call.ts'
import { SandboxError } from '../../model/errors.ts'
import { named } from '../../model/formats.ts'
import { AllClients } from '../../model/logged-request.ts'
import { loadReader, scenarioPath } from '../../scenarios/library.ts'
import type { Rule } from '../../scenarios/rule-schema.ts'
import type { Scenario } from '../../scenarios/scenario-schema.ts'

const RuleHits = z.strictObject({
  name: z.string(),
  scenario: z.string().optional(),
  hits: z.int(),
})
const RuleInText = RuleHits.omit({ scenario: true }).extend({ line: z.int().nullable() })
const Expected = z.strictObject({
  operation: z.string(),
  at_least: z.int().optional(),
  at_most: z.int().optional(),
  found: z.int(),
  met: z.boolean(),
})
const ActiveScenario = named('ActiveScenarioResponse', {
  name: z.string(),
  title: z.string().nullable(),
  definition: z.looseObject({}).optional(),
  imposed: z.string().optional().meta({
    description: 'The scenario of `exec` or of a sweep, whose rules come before those of this one.',
  }),
  rules: z.array(RuleHits),
  webhooks: z.array(RuleHits),
  // Parts of the definition that are allowed but look like mistakes; returned when it is set.
  warnings: z.array(z.string()).optional(),
  expect: z.array(Expected),
  // The scenarios active before, since the start or a reset, and the expectations that they had not met when they were replaced.
  previous: z.array(z.strictObject({ name: z.string(), expect: z.array(Expected) })).optional(),
})
const PushedRule = named('PushedRule', {
  rule_id: z.string(),
  hits: z.int(),
  used_up: z.boolean().meta({
    description:
      'The rule has acted as often as its `times` allow, or its `for` is over: it does not act again. It stays in the list, so that its hits can be read.',
  }),
  definition: z.looseObject({}),
  // Parts of the rule that are allowed but look like mistakes; returned when it is pushed.
  warnings: z.array(z.string()).optional(),
})
const RulePath = z.object({ id: z.string().min(1).max(64) })

const readFileText = (file: string): Promise<string | undefined> =>
  readFile(scenarioPath(file))
    .then(textOf)
    .catch(() => undefined)

const warningsField = ({ warnings }: { warnings: string[] }) =>
  warnings.length > 0 ? { warnings } : {}

/** The definition in the text of a scenario file. Throws `validation_failed` with the line of each problem. */
async function definitionIn(text: string) {
  const { readScenario } = await loadReader()
  const read = readScenario(text, { name: 'inline', file: 'definition' })
  if (read.ok) return read.scenario.definition
  const errors = read.problems.map(({ line, column, message }) => ({
    field: 'definition',
    code: 'invalid',
    message: `line ${line}, column ${column}: ${message}`,
  }))
  const message = `definition, ${errors[0]!.message}.`.replace('?.', '?')
  throw new SandboxError('validation_failed', message, { errors })
}

export const scenarioCalls = [
  adminCall({
    id: 'listScenarios',
    summary: 'List the scenarios, and the files that --watch rejected',
    response: named('ScenariosResponse', {
      scenarios: z.array(
        z.strictObject({
          name: z.string(),
          title: z.string().nullable(),
          description: z.string().nullable(),
          file: z.string().nullable(),
          active: z.boolean(),
        }),
      ),
      // file:line:column: message
      problems: z.array(z.string()),
    }),
    handle: ({ scenarios }, _input, { libraryProblems }) => ({
      scenarios: scenarios.list(),
      problems: [...libraryProblems],
    }),
  }),
  adminCall({
    id: 'readScenario',
    summary: "Return a scenario's source, with the line and hits of each rule",
    params: z.object({ name: z.string().min(1).max(64) }),
    response: named('ScenarioTextResponse', {
      name: z.string(),
      file: z.string().nullable(),
      // The file has changed since it was loaded: `source` is the text of the loaded scenario.
      changed: z.boolean(),
      source: z.string(),
      rules: z.array(RuleInText),
      webhooks: z.array(RuleInText),
    }),
    errors: ['not_found'],
    async handle({ scenarios }, { params: { name } }) {
      const { definition, file, source: kept, rules, webhooks } = scenarios.textOf(name)
      const { readScenario } = await loadReader()
      const original = kept ?? (file === undefined ? undefined : await readFileText(file))
      const readBack = (text: string) => {
        const read = readScenario(text, { name, file: file ?? name })
        const isSame =
          read.ok && JSON.stringify(read.scenario.definition) === JSON.stringify(definition)
        return isSame ? { text, problemAt: read.problemAt } : undefined
      }
      const unchanged = original === undefined ? undefined : readBack(original)
      const source = unchanged?.text ?? JSON.stringify(definition, null, 2)
      const problemAt = (unchanged ?? readBack(source))?.problemAt
      const withLines = (list: 'rules' | 'webhooks', found: typeof rules) =>
        found.map((rule, i) => ({ ...rule, line: problemAt?.([list, i], '').line ?? null }))
      return {
        name,
        file: file ?? null,
        changed: file !== undefined && !unchanged,
        source,
        rules: withLines('rules', rules),
        webhooks: withLines('webhooks', webhooks),
      }
    },
  }),
  adminCall({
    id: 'getScenario',
    summary:
      "Return the active scenario, its rules' hits, and all expectations; with client=* the start scenario, over all clients",
    query: z.object({ client: AllClients }),
    response: ActiveScenario,
    handle({ scenarios }, { query }, sandbox) {
      if (query.client === undefined) return scenarios.describe()
      const ofStart = sandbox.startScenario()
      if (ofStart) return ofStart
      throw new SandboxError('not_found', 'The file of the start scenario was deleted.')
    },
  }),
  adminCall({
    id: 'setScenario',
    summary: 'Activate a scenario by name or by definition',
    body: z
      .strictObject({
        name: z.string().optional(),
        definition: z
          .union([outlineOf<typeof Scenario>(z.looseObject({})), z.string()])
          .optional()
          .describe('An object, or the text of a scenario file.'),
      })
      .refine(({ name, definition }) => (name === undefined) !== (definition === undefined), {
        error: 'must have exactly one of "name" and "definition"',
        params: { code: 'required' },
      }),
    response: ActiveScenario,
    errors: ['too_many_rules'],
    async handle({ scenarios }, { body: { name, definition } }) {
      const value = typeof definition === 'string' ? await definitionIn(definition) : definition
      const checked = value && (await scenarios.check(value))
      scenarios.timeline.start(() =>
        checked ? scenarios.useDefinition(checked.definition) : scenarios.use(name!),
      )
      return { ...scenarios.describe(), ...(checked && warningsField(checked)) }
    },
  }),
  adminCall({
    id: 'listRules',
    summary: 'List the pushed rules by precedence, with their hits',
    response: named('PushedRulesResponse', { rules: z.array(PushedRule) }),
    handle: ({ scenarios }) => ({ rules: scenarios.pushed() }),
  }),
  adminCall({
    id: 'pushRule',
    summary: 'Push a rule on top of the scenario; times: 1 makes it act once',
    body: outlineOf<typeof Rule>(z.looseObject({})),
    response: PushedRule,
    errors: ['too_many_rules'],
    async handle({ scenarios }, { body }) {
      const checked = await checkRule(body)
      const { rule_id, definition } = scenarios.push(checked.definition)
      return { rule_id, hits: 0, used_up: false, definition, ...warningsField(checked) }
    },
  }),
  adminCall({
    id: 'deleteRule',
    summary: 'Delete a pushed rule',
    params: RulePath,
    response: named('DeletedRuleResponse', { deleted: z.string() }),
    handle({ scenarios }, { params }) {
      scenarios.removeRule(params.id)
      return { deleted: params.id }
    },
  }),
  adminCall({
    id: 'listMagicValues',
    summary: 'List the magic values of the default scenario',
    response: named('MagicValuesResponse', {
      magic_values: z.array(
        z.strictObject({
          where: z.string(),
          operation: z.string(),
          field: z.string(),
          value: z.string(),
          outcome: z.string(),
          rule: z.string(),
        }),
      ),
    }),
    handle: ({ scenarios }) => ({ magic_values: scenarios.magicValues() }),
  }),
]
