import { OPERATIONS } from '../../routes/v1/operations.ts'

const ENDINGS = ['th', 'st', 'nd', 'rd']

/** `1st`, `2nd`, `11th`. */
export function ordinal(n: number): string {
  const tens = n % 100
  return `${n}${(tens > 10 && tens < 14 ? undefined : ENDINGS[n % 10]) ?? 'th'}`
}

/** An operation in words: `POST /transaction`. */
export function callOf(operation: string): string {
  const found = OPERATIONS.find(({ id }) => id === operation)
  return found ? `${found.method} ${found.url}` : operation
}

/** The limits of a rule that acts only once, at the n-th match. */
export const onlyAt = (nth: number) => ({ ...(nth > 1 && { skip: nth - 1 }), times: 1 })

/** The name of a fault's rule, in the log and in the scenario file. */
export const ruleName = (name: string, nth: number, of: string) => `${ordinal(nth)} ${of}: ${name}`
