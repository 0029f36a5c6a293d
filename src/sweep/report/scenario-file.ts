import { stringify } from 'yaml'
import { printableLine } from '../../model/printable.ts'
import type { ScenarioDefinition } from '../../scenarios/scenario-schema.ts'
import type { Finding, Plan } from '../types.ts'

const MAX_TITLE = 200

/** The scenario of a plan: all its faults, on top of the scenario that the sweep started with. */
export function planScenario(plan: Plan, parent: string): ScenarioDefinition {
  const rules = plan.flatMap(({ scenario }) => scenario.rules ?? [])
  const webhooks = plan.flatMap(({ scenario }) => scenario.webhooks ?? [])
  const assume = Object.assign({}, ...plan.map(({ scenario }) => scenario.assume))
  return {
    extends: parent,
    ...(Object.keys(assume).length > 0 && { assume }),
    ...(rules.length > 0 && { rules }),
    ...(webhooks.length > 0 && { webhooks }),
  }
}

const comment = (text: string) => `# ${printableLine(text)}\n`

/** The scenario file of a finding: it says what it does and what it showed. */
export function findingScenario(finding: Finding, parent: string): string {
  const { plan, verdict, happened, reproduce } = finding
  const title = printableLine(`${finding.finding}: ${plan.map(({ what }) => what).join('; ')}`)
  const definition = { title: title.slice(0, MAX_TITLE), ...planScenario(plan, parent) }
  // One document holds no anchors: the scenario language has none.
  const yaml = stringify(definition, { aliasDuplicateObjects: false, lineWidth: 0 })
  return [
    comment('A sweep found this. What is otherwise than in a run without faults:'),
    ...plan.map(({ what }) => comment(`- ${what}`)),
    comment(`What happened (${verdict}): ${happened}`),
    comment(`Show it again: ${reproduce}`),
    '\n',
    yaml,
  ].join('')
}
