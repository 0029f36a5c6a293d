import { ASSUMPTIONS } from '../assumptions/readings.ts'
import { EVENTS, OPERATIONS } from '../scenarios/operations-and-events.ts'
import { CALL_NAMES, LIFECYCLE_NAMES } from './faults.ts'
import type { Fault } from './faults-and-findings.ts'
import { WEBHOOK_NAMES } from './webhook-faults.ts'

const KINDS: readonly Fault['kind'][] = ['assumption', 'call', 'lifecycle', 'webhook']

/** The words that can select faults: kinds, names of faults and assumptions, operations and events. */
const WORDS: ReadonlySet<string> = new Set([
  ...KINDS,
  ...CALL_NAMES,
  ...LIFECYCLE_NAMES,
  ...WEBHOOK_NAMES,
  ...ASSUMPTIONS.map(({ name }) => name),
  ...OPERATIONS,
  ...EVENTS,
])

/** Why a word of `--only` is wrong; `undefined` if all are right. */
export function problemOfOnly(only: readonly string[]): string | undefined {
  const unknown = only.find((word) => !WORDS.has(word))
  return unknown === undefined
    ? undefined
    : `--only takes kinds, names of faults and assumptions, operations and events, not ${JSON.stringify(unknown)}; use some of: ${[...WORDS].join(', ')}`
}

/** Whether words select a fault; without words each fault is selected. */
export const isSelected = (
  { kind, name, operation = '' }: Fault,
  only: readonly string[] | undefined,
): boolean =>
  only === undefined || [kind, name.split('=')[0]!, operation].some((own) => only.includes(own))
