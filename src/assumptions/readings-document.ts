import { type Readings, readingProblem } from './readings.ts'

const FORMAT = 'payout-sandbox-readings/1'

/** What is known about a service: readings, and where and when they were measured. */
export type Measurement = { against: string; measured_at: string; readings: Readings }

/** The text of a readings file. */
export const readingsDocument = ({ against, measured_at, readings }: Measurement): string =>
  `${JSON.stringify({ format: FORMAT, against, measured_at, readings }, null, 2)}\n`

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The readings of such a text, or what is wrong with it. */
export function readingsOfDocument(text: string): { readings: Readings } | { problem: string } {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    return { problem: `is not JSON: ${(error as Error).message}` }
  }
  if (!isObject(document) || !isObject(document['readings']))
    return { problem: 'has no object "readings"' }
  const { format, readings } = document
  if (format !== FORMAT)
    return { problem: `has the format ${JSON.stringify(format)}; this version reads "${FORMAT}"` }
  for (const [name, reading] of Object.entries(readings)) {
    const problem = readingProblem(name, reading)
    if (problem !== undefined)
      return { problem: `has the reading ${name}=${JSON.stringify(reading)}: ${name} ${problem}` }
  }
  return { readings: readings as Readings }
}
