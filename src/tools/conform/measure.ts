import { ASSUMPTIONS, readingProblem } from '../../assumptions/readings.ts'
import { endpointOf } from './findings.ts'
import type { Measures } from './measuring.ts'
import { READ_MEASURES } from './read-measures.ts'
import { type Session, sourceOf } from './session.ts'
import { WRITE_MEASURES } from './write-measures.ts'

/** Why no caller of the service can measure an assumption with a few harmless calls. */
const NO_RECEIVER = 'conform receives no webhooks'
export const NOT_MEASURABLE: Readonly<Record<string, string>> = {
  token_lifetime: 'conform does not wait until a token expires',
  rate_limit: 'its number shows only in a flood of calls, which conform never sends',
  unverified_account: 'a payment to an account that failed its check could lose money',
  webhook_delivery: NO_RECEIVER,
  webhook_order: NO_RECEIVER,
  webhook_signature: NO_RECEIVER,
  webhook_body: NO_RECEIVER,
  late_success: 'conform cannot make a payment fail and succeed later',
}

export const MEASURES: Measures = { ...WRITE_MEASURES, ...READ_MEASURES }

export type MeasuredAssumption = { name: string; reading: string; evidence: string }

export type UnmeasuredAssumption = { name: string; reason: string }

export const assumeOptions = (measured: readonly MeasuredAssumption[]): string[] =>
  measured
    .filter(({ name, reading }) =>
      ASSUMPTIONS.some((one) => one.name === name && one.default !== reading),
    )
    .map(({ name, reading }) => `--assume ${name}=${reading}`)

export async function measureAssumption(
  session: Session,
  name: string,
): Promise<MeasuredAssumption | UnmeasuredAssumption> {
  const found = (await MEASURES[name]?.(session)) ?? NOT_MEASURABLE[name]!
  if (typeof found === 'string') return { name, reason: found }
  const { reading, shownBy } = found
  const problem = readingProblem(name, reading)
  if (problem !== undefined) return { name, reason: `${name} ${problem}, not ${reading}` }
  const { op, call } = sourceOf(shownBy.op, shownBy.call)
  const request = call ? ` (${call})` : ''
  const seen = found.seen ?? `status ${shownBy.status}`
  return { name, reading, evidence: `${endpointOf(op)}${request}: ${seen}` }
}

/** The results in the order of docs/assumptions.md. After a run that stopped, the points that it did not reach are not measured. */
export function measuredReport(results: readonly (MeasuredAssumption | UnmeasuredAssumption)[]) {
  const rest = ASSUMPTIONS.slice(results.length).map(({ name }) => ({
    name,
    reason: 'the run stopped before',
  }))
  const all = [...results, ...rest]
  return {
    assumptions: all.filter((one) => 'reading' in one),
    not_measured: all.filter((one) => 'reason' in one),
  }
}
