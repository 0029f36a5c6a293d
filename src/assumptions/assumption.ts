/** One way to read an open point of the contract: what the sandbox then does, and the value or function that does it. */
export type Reading<V> = {
  does: string
  value: V
  /** Why no integration that knows only the contract can pass its tests under this reading; absent if one can. */
  notAbsorbable?: string
}

/** Readings that contain a number or a duration, such as `60/minute`. */
export type ReadingForm<V> = {
  /** How a user writes it, such as `N/minute`. */
  syntax: string
  /** The values that it takes, for messages, such as `N is 1 to 20`. */
  range: string
  does: string
  /** As that of a reading. */
  notAbsorbable?: string
  /** A valid reading of this form, for help and docs. */
  example: string
  /** As a regular expression, for the JSON Schema of scenario files. */
  pattern: RegExp
  /** The value of a text that matches the pattern; `undefined` if it is out of range. */
  parse: (reading: string) => V | undefined
}

/** A point that the contract leaves open, with the readings that it permits. */
export type Assumption<V = unknown> = {
  /** The name in options, scenario files and the admin API. */
  name: string
  /** The section of the contract. */
  section: string
  /** The operations whose calls it changes, or `all calls`; `webhooks` if it changes what is sent. */
  concerns: readonly string[]
  /** What the contract leaves open, as a question. */
  question: string
  /** `stated`: the text implies the default. `custom`: similar Indian providers do so. `guessed`: neither. */
  basis: 'stated' | 'guessed' | 'custom'
  /** Why the default is the default. */
  why: string
  /** The name of the default reading. */
  default: string
  readings: Readonly<Record<string, Reading<V>>>
  form?: ReadingForm<V>
}

/** Defines an assumption; the type of its values is that of its readings. */
export const assumption = <V>(definition: Assumption<V>): Assumption<V> => definition
