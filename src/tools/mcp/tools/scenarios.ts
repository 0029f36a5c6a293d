// The tools for scenarios and assumptions: how the service behaves from now on.
import * as z from 'zod'
import { problemText } from '../../../model/errors.ts'
import { loadReader } from '../../../scenarios/library.ts'
import { defineTool, linesOf, listText, Name, ToolError } from '../tool.ts'

const listScenarios = defineTool('list_scenarios', {
  title: 'List scenarios',
  description: 'Lists the scenarios, or shows the text of one.',
  readOnly: true,
  input: z.strictObject({
    name: Name.optional().meta({ description: 'Show the YAML of this scenario.' }),
  }),
  async run({ name }, { admin }) {
    if (name !== undefined) {
      const { source } = await admin('readScenario', { params: { name } })
      return {
        text: source,
        next: `use_scenario with name: ${name} activates it; write_scenario checks your own version.`,
      }
    }
    const { scenarios } = await admin('listScenarios')
    return {
      text: listText(
        'Scenarios',
        scenarios,
        (one) => `${one.name}${one.active ? ' (active)' : ''}: ${one.title ?? ''}`,
      ),
      next: 'use_scenario activates one.',
    }
  },
})

const useScenario = defineTool('use_scenario', {
  title: 'Use a scenario',
  description: 'Activates a scenario by its name; the standard one is default.',
  input: z.strictObject({ name: z.string() }),
  async run({ name }, { admin }) {
    const { title, rules } = await admin('setScenario', { body: { name } })
    const heading = `Active: ${name}${title === null ? '' : `, ${title}`}. Rules`
    return {
      text: listText(heading, rules, (rule) => rule.name),
      next: 'run your code, then look. use_scenario with name: default goes back.',
    }
  },
})

const writeScenario = defineTool('write_scenario', {
  title: 'Write and check a scenario',
  description:
    'Checks the YAML of a scenario, names each problem with its line, and can activate it.',
  input: z.strictObject({
    yaml: z.string().meta({
      description:
        'The text of the file; the resource payout-sandbox://scenario-schema has its schema.',
    }),
    use: z.boolean().default(false).meta({ description: 'Activate it if it is valid.' }),
  }),
  async run({ yaml, use }, { admin }) {
    const { readScenario } = await loadReader()
    const read = readScenario(yaml, { name: 'inline', file: 'scenario.yaml' })
    if (!read.ok)
      throw new ToolError(
        `The scenario is invalid:\n${read.problems.map((one) => `- ${problemText(one)}`).join('\n')}`,
        'correct these lines and call write_scenario again; list_scenarios with a name shows a working example.',
      )
    const { definition } = read.scenario
    if (use) await admin('setScenario', { body: { definition } })
    return {
      text: linesOf(
        use ? 'Valid, and active now.' : 'Valid.',
        read.warnings.length > 0 && listText('Warnings', read.warnings, problemText),
      ),
      next: use
        ? 'run your code, then look. use_scenario with name: default goes back.'
        : 'call it with use: true to activate it, or save it as a file in a folder for --scenarios.',
    }
  },
})

const assumptions = defineTool('assumptions', {
  title: 'Open points of the contract',
  description:
    'Lists the points that the contract leaves open with the reading in force, or chooses readings.',
  input: z.strictObject({
    name: z.string().optional().meta({ description: 'Show one assumption with all its readings.' }),
    choose: z
      .record(z.string(), z.string().nullable())
      .optional()
      .meta({ description: 'Readings by assumption; null undoes an earlier choice.' }),
  }),
  async run({ name, choose }, { admin }) {
    const { assumptions: all } = await (choose === undefined
      ? admin('listAssumptions')
      : admin('setAssumptions', { body: choose }))
    const chosen = Object.keys(choose ?? {})
    const shown = all.filter(
      (one) =>
        (name === undefined && chosen.length === 0) ||
        one.name === name ||
        chosen.includes(one.name),
    )
    if (shown.length === 0)
      throw new ToolError(
        `There is no assumption ${JSON.stringify(name)}.`,
        'call assumptions without a name to list them.',
      )
    const withReadings = shown.length < all.length
    return {
      text: listText('Assumptions', shown, (one) => {
        const line = `${one.name} = ${one.reading} (${one.source}): ${one.question}`
        const readings = one.readings.map(({ reading, does }) => `\n  ${reading}: ${does}`)
        return withReadings ? line + readings.join('') : line
      }),
      next: 'run the tests with another reading, to see whether they rely on this one. run_sweep tries all of them.',
    }
  },
})

export const scenarioTools = [listScenarios, useScenario, writeScenario, assumptions]
