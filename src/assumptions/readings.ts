import { closestWord } from '../model/closest-word.ts'
import { ASSUMPTIONS } from './all-assumptions.ts'
import type { Assumption } from './assumption.ts'

/** Chosen readings by the name of their assumption. An assumption that is missing has its default. */
export type Readings = Readonly<Record<string, string>>

const BY_NAME: ReadonlyMap<string, Assumption> = new Map(ASSUMPTIONS.map((one) => [one.name, one]))

/** The default reading of every assumption. */
export const DEFAULT_READINGS: Readings = Object.fromEntries(
  ASSUMPTIONS.map((one) => [one.name, one.default]),
)

/** The readings that an assumption takes, as in `ignored, honoured or N/minute`. */
export function readingChoices({ readings, form }: Assumption): string {
  const words = [...Object.keys(readings), ...(form ? [form.syntax] : [])]
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** The value of a reading; `undefined` if the assumption has no such reading. */
export function valueOfReading<V>(
  { readings, form }: Assumption<V>,
  reading: string,
): V | undefined {
  if (Object.hasOwn(readings, reading)) return readings[reading]!.value
  return form?.pattern.test(reading) ? form.parse(reading) : undefined
}

/** Readings as a caller wrote them: a number counts as its text, and a reading that is undefined as missing. */
export const givenReadings = (values: object): Readings =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, reading]) => reading !== undefined)
      .map(([name, reading]) => [name, typeof reading === 'number' ? String(reading) : reading]),
  )

/** What is wrong with a chosen reading; `undefined` if it is valid. With `canUndo`, `null` is valid too. */
export function readingProblem(
  name: string,
  reading: unknown,
  canUndo = false,
): string | undefined {
  const found = BY_NAME.get(name)
  if (!found) {
    const close = closestWord(name, [...BY_NAME.keys()])
    const hint =
      close === undefined ? 'docs/assumptions.md lists them all' : `did you mean ${close}?`
    return `is not an assumption (${hint})`
  }
  if (reading === null && canUndo) return undefined
  if (typeof reading === 'string' && valueOfReading(found, reading) !== undefined) return undefined
  const range = found.form ? ` (${found.form.range})` : ''
  return `takes ${readingChoices(found)}${range}`
}
