import { ASSUMPTIONS } from '../assumptions/list.ts'
import { readingProblem } from '../assumptions/readings.ts'
import { endpointOf } from './findings.ts'
import { MEASURES } from './measures.ts'
import { type Session, sourceOf } from './session.ts'

/** What a service does at a point that the contract leaves open, and the response that shows it. */
export type MeasuredAssumption = { name: string; reading: string; evidence: string }

/** The measured readings that differ from the defaults, as options of `start`. */
export const assumeOptions = (measured: readonly MeasuredAssumption[]): string[] =>
  measured
    .filter(({ name, reading }) =>
      ASSUMPTIONS.some((one) => one.name === name && one.default !== reading),
    )
    .map(({ name, reading }) => `--assume ${name}=${reading}`)

/** Adds to `measured` the readings that the responses show, in the order of docs/assumptions.md. */
export async function measureAssumptions(
  session: Session,
  measured: MeasuredAssumption[],
): Promise<void> {
  for (const { name } of ASSUMPTIONS) {
    const found = await MEASURES[name]?.(session)
    if (!found || readingProblem(name, found.reading) !== undefined) continue
    const { op, status } = found.shownBy
    const { call } = sourceOf(op, found.shownBy.call)
    const request = call ? ` (${call})` : ''
    const seen = found.seen ?? `status ${status}`
    measured.push({
      name,
      reading: found.reading,
      evidence: `${endpointOf(op)}${request}: ${seen}`,
    })
  }
}
