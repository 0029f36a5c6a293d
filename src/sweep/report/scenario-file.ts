import { stringify } from 'yaml'
import { printableLine } from '../../model/words.ts'
import type { ScenarioDefinition } from '../../scenarios/scenario-schema.ts'
import type { Finding } from '../faults-and-findings.ts'

const comment = (text: string) => `# ${printableLine(text)}\n`

/** The text of a scenario file. It has no anchors: the scenario language has none. */
export const scenarioText = (definition: ScenarioDefinition): string =>
  stringify(definition, { aliasDuplicateObjects: false, lineWidth: 0 })

/** The scenario file of a finding: it says what it does and what it showed. */
export function findingScenario(found: Finding): string {
  const { plan, verdict, happened, reproduce, definition } = found
  return [
    comment('A sweep found this. What is otherwise than in a run without faults:'),
    ...plan.map(({ what }) => comment(`- ${what}`)),
    comment(`What happened (${verdict}): ${happened}`),
    comment(`Show it again: ${reproduce}`),
    '\n',
    scenarioText(definition),
  ].join('')
}
