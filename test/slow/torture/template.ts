/**
 * What an answer must look like, as plain JSON with holes: a `Slot` is a value that only the sandbox knows, a function
 * for what is checked and not known. What it does not name is held by the schema of the call: `checkAnswer` in `test/helper.ts`.
 */

/** A value that the first answer with it tells, in a form that is known, and every later one must repeat. */
export class Slot {
  value: string | undefined
  readonly form: RegExp

  constructor(form: RegExp, value?: string) {
    this.form = form
    this.value = value
  }

  fits(actual: unknown): boolean {
    if (this.value !== undefined) return actual === this.value
    if (typeof actual !== 'string' || !this.form.test(actual)) return false
    this.value = actual
    return true
  }

  toJSON() {
    return this.value ?? `<${this.form.source}>`
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** An id: new, or one that is known. */
export const uuid = (value?: string) => new Slot(UUID, value)

/** Something whose form is not looked at: the first answer with it tells, every later one must repeat it. */
export function unchanged() {
  let first: string | undefined
  return function asBefore(actual: unknown) {
    const text = JSON.stringify(actual)
    first ??= text
    return text === first
  }
}
export const anything = () => true
export const aText = (actual: unknown) => typeof actual === 'string' && actual.length > 0

/** Where an answer is not as the template says, or `undefined`: the path, what was wanted, what was received. */
export function difference(wanted: unknown, actual: unknown, at = 'body'): string | undefined {
  if (wanted instanceof Slot)
    return wanted.fits(actual) ? undefined : differs(at, wanted.toJSON(), actual)
  if (typeof wanted === 'function')
    return wanted(actual) ? undefined : differs(at, wanted.name || 'another', actual)
  if (typeof wanted !== 'object' || wanted === null)
    return wanted === actual ? undefined : differs(at, wanted, actual)
  if (
    typeof actual !== 'object' ||
    actual === null ||
    Array.isArray(wanted) !== Array.isArray(actual)
  )
    return differs(at, wanted, actual)
  const keys = Object.keys(wanted)
  if (Array.isArray(wanted) && Array.isArray(actual) && wanted.length !== actual.length)
    return differs(at, wanted, actual)
  for (const key of keys) {
    const found = difference(
      (wanted as Record<string, unknown>)[key],
      (actual as Record<string, unknown>)[key],
      `${at}.${key}`,
    )
    if (found) return found
  }
  return undefined
}

const differs = (at: string, wanted: unknown, actual: unknown) =>
  `${at}: wanted ${JSON.stringify(wanted)}, received ${JSON.stringify(actual)}`
