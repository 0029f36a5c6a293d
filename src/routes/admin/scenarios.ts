import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { adminCall, outlineOf } from '../../http/admin.ts'
import { loadReader } from '../../scenarios/reader.ts'
import type { Rule } from '../../scenarios/rule-schema.ts'
import type { Scenario } from '../../scenarios/schema.ts'
import { scenarioPath } from '../../scenarios/shipped.ts'

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
const ActiveScenario = z
  .strictObject({
    name: z.string(),
    title: z.string().nullable(),
    definition: z.looseObject({}).optional(),
    rules: z.array(RuleHits),
    webhooks: z.array(RuleHits),
    // What is allowed in a definition but looks like a mistake; told when it is set.
    warnings: z.array(z.string()).optional(),
    expect: z.array(Expected),
    // Those active before, since the start or a reset, and what they had expected and not found when they were left.
    left: z.array(z.strictObject({ name: z.string(), expect: z.array(Expected) })).optional(),
  })
  .meta({ id: 'ActiveScenario' })
const PushedRule = z
  .strictObject({
    rule_id: z.string(),
    hits: z.int(),
    used_up: z.boolean().meta({
      description:
        'It has acted as often as its `times` allow and acts no more; it stays listed, so that its hits can be asked for.',
    }),
    definition: z.looseObject({}),
    // What is allowed but looks like a mistake; told when it is pushed.
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'PushedRule' })
const RulePath = z.object({ id: z.string().min(1).max(64) })

/** The text of a scenario's file, if it is still there. */
const fileText = (file: string): Promise<string | undefined> =>
  readFile(scenarioPath(file), 'utf8').catch(() => undefined)

const warned = ({ warnings }: { warnings: string[] }) => (warnings.length > 0 ? { warnings } : {})

/** What decides about the calls of a client. */
export const scenarioCalls = [
  adminCall({
    id: 'listScenarios',
    method: 'GET',
    url: '/scenarios',
    summary: 'The scenarios that can be used, and why changed files of --watch were refused',
    response: z
      .strictObject({
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
      })
      .meta({ id: 'Scenarios' }),
    handle: ({ scenarios }, _input, { libraryProblems }) => ({
      scenarios: scenarios.list(),
      problems: [...libraryProblems],
    }),
  }),
  adminCall({
    id: 'readScenario',
    method: 'GET',
    url: '/scenarios/:name',
    summary: 'A scenario’s text, and where its rules stand in it and how often each acted',
    params: z.object({ name: z.string().min(1).max(64) }),
    response: z
      .strictObject({
        name: z.string(),
        file: z.string().nullable(),
        // The file says something else meanwhile: the text is that of what decides.
        changed: z.boolean(),
        source: z.string(),
        rules: z.array(RuleInText),
        webhooks: z.array(RuleInText),
      })
      .meta({ id: 'ScenarioText' }),
    errors: ['not_found'],
    async handle({ scenarios }, { params: { name } }) {
      const { definition, file, source: kept, rules, webhooks } = scenarios.textOf(name)
      const { readScenario } = await loadReader()
      const written = kept ?? (file === undefined ? undefined : await fileText(file))
      const readBack = (text: string) => {
        const read = readScenario(text, { name, file: file ?? name })
        const isSame =
          read.ok && JSON.stringify(read.scenario.definition) === JSON.stringify(definition)
        return isSame ? { text, problemAt: read.problemAt } : undefined
      }
      const asWritten = written === undefined ? undefined : readBack(written)
      const source = asWritten?.text ?? JSON.stringify(definition, null, 2)
      const problemAt = (asWritten ?? readBack(source))?.problemAt
      const placed = (list: 'rules' | 'webhooks', found: typeof rules) =>
        found.map((rule, i) => ({ ...rule, line: problemAt?.([list, i], '').line ?? null }))
      return {
        name,
        file: file ?? null,
        changed: file !== undefined && !asWritten,
        source,
        rules: placed('rules', rules),
        webhooks: placed('webhooks', webhooks),
      }
    },
  }),
  adminCall({
    id: 'getScenario',
    method: 'GET',
    url: '/scenario',
    summary:
      'The active scenario, how often each of its rules acted, and what it and those before it expected',
    response: ActiveScenario,
    handle: ({ scenarios }) => scenarios.describe(),
  }),
  adminCall({
    id: 'setScenario',
    method: 'PUT',
    url: '/scenario',
    summary: 'Activate a scenario by its name, or by its definition',
    body: z
      .strictObject({
        name: z.string().optional(),
        definition: outlineOf<typeof Scenario>(z.looseObject({})).optional(),
      })
      .refine(({ name, definition }) => (name === undefined) !== (definition === undefined), {
        path: ['name'],
        error: 'or definition, one of the two',
        params: { code: 'required' },
      }),
    response: ActiveScenario,
    async handle({ scenarios, timeline }, { body: { name, definition } }) {
      const checked = definition && (await scenarios.check(definition))
      timeline.start(() =>
        checked ? scenarios.useDefinition(checked.definition) : scenarios.use(name!),
      )
      const warnings = [...(checked?.warnings ?? []), ...timeline.warnings()]
      return { ...scenarios.describe(), ...warned({ warnings }) }
    },
  }),
  adminCall({
    id: 'listRules',
    method: 'GET',
    url: '/rules',
    summary:
      'The pushed rules, the one asked first at the top; one that is used up stays, with its hits',
    response: z.strictObject({ rules: z.array(PushedRule) }).meta({ id: 'PushedRules' }),
    handle: ({ scenarios }) => ({ rules: scenarios.pushed() }),
  }),
  adminCall({
    id: 'pushRule',
    method: 'POST',
    url: '/rules',
    summary: 'Put a rule in front of the scenario; times: 1 ends it by itself',
    body: outlineOf<typeof Rule>(z.looseObject({})),
    response: PushedRule,
    async handle({ scenarios }, { body }) {
      const checked = await scenarios.checkRule(body)
      const { rule_id, definition } = scenarios.push(checked.definition)
      return { rule_id, hits: 0, used_up: false, definition, ...warned(checked) }
    },
  }),
  adminCall({
    id: 'deleteRule',
    method: 'DELETE',
    url: '/rules/:id',
    summary: 'Take a pushed rule away',
    params: RulePath,
    response: z.strictObject({ deleted: z.string() }).meta({ id: 'DeletedRule' }),
    handle({ scenarios }, { params }) {
      scenarios.removeRule(params.id)
      return { deleted: params.id }
    },
  }),
  adminCall({
    id: 'listMagicValues',
    method: 'GET',
    url: '/magic-values',
    summary: 'Values to which the default scenario gives a meaning',
    response: z
      .strictObject({
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
      })
      .meta({ id: 'MagicValues' }),
    handle: ({ scenarios }) => ({ magic_values: scenarios.magicValues() }),
  }),
]
