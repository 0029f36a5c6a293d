/**
 * What an answer must look like, as plain JSON with holes: a `Slot` stands for what only the sandbox knows, a function
 * for what is checked and not known.
 */

/** A value that the first answer with it tells, in a form that is known, and every later one must repeat. */
export class Slot {
  value: string | undefined
  readonly form: RegExp

  constructor(form: RegExp, value?: string) {
    this.form = form
    this.value = value
  }

  fits(told: unknown): boolean {
    if (this.value !== undefined) return told === this.value
    if (typeof told !== 'string' || !this.form.test(told)) return false
    this.value = told
    return true
  }

  toJSON() {
    return this.value ?? `<${this.form.source}>`
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** An id: new, or one that is known. */
export const uuid = (value?: string) => new Slot(UUID, value)

export const anything = () => true
export const aText = (told: unknown) => typeof told === 'string' && told.length > 0
export const aBoolean = (told: unknown) => typeof told === 'boolean'

/** Where an answer is not as the template says, or `undefined`: the path, what was wanted, what was told. */
export function difference(wanted: unknown, told: unknown, at = 'body'): string | undefined {
  if (wanted instanceof Slot)
    return wanted.fits(told) ? undefined : differs(at, wanted.toJSON(), told)
  if (typeof wanted === 'function')
    return wanted(told) ? undefined : differs(at, wanted.name || 'another', told)
  if (typeof wanted !== 'object' || wanted === null)
    return wanted === told ? undefined : differs(at, wanted, told)
  if (typeof told !== 'object' || told === null || Array.isArray(wanted) !== Array.isArray(told))
    return differs(at, wanted, told)
  const keys = Object.keys(wanted)
  const others = Object.keys(told).filter((key) => !keys.includes(key))
  if (others.length > 0 || keys.some((key) => !(key in told))) return differs(at, wanted, told)
  for (const key of keys) {
    const found = difference(
      (wanted as Record<string, unknown>)[key],
      (told as Record<string, unknown>)[key],
      `${at}.${key}`,
    )
    if (found) return found
  }
  return undefined
}

const differs = (at: string, wanted: unknown, told: unknown) =>
  `${at}: wanted ${JSON.stringify(wanted)}, told ${JSON.stringify(told)}`
