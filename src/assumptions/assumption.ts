// assumptions/: the points that the contract leaves open. Each is a constant with its readings and what speaks for its
// default; the readings in force decide what the rest of the service does. readings.ts lists them.

import * as z from 'zod'

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
  /** The value of a string that matches the pattern; `undefined` if it is out of range. */
  parse: (reading: string) => V | undefined
}

/** A point that the contract leaves open, with the readings that it permits. */
export type Assumption<V = unknown> = {
  /** The name in options, scenario files and the admin API. */
  name: string
  section: string
  /** The operations whose calls it changes, or `all calls`; `webhooks` if it changes what is sent. */
  concerns: readonly string[]
  /** What the contract leaves open, as a question. */
  question: string
  basis: Basis
  why: string
  default: string
  readings: Readonly<Record<string, Reading<V>>>
  form?: ReadingForm<V>
}

type Definition<V> = Omit<Assumption<V>, 'default'>

/** Defines an assumption; the type of its values is that of its readings. The first reading is the default. */
export const assumption = <V>(definition: Definition<V>): Assumption<V> => ({
  ...definition,
  default: Object.keys(definition.readings)[0]!,
})

/** Defines an assumption whose values are the names of its readings; each reading is what the sandbox then does. */
export const choice = <R extends string>({
  readings,
  ...more
}: Omit<Definition<R>, 'readings' | 'form'> & { readings: Readonly<Record<R, string>> }) =>
  assumption<R>({
    ...more,
    readings: Object.fromEntries(
      (Object.keys(readings) as R[]).map((value) => [value, { does: readings[value], value }]),
    ),
  })

/** The operations whose response is one page of a list. */
export const PAGED_LISTS: readonly string[] = [
  'listUsers',
  'listTransactions',
  'listTransactionHistory',
  'listUserTransactionHistory',
]

/** The operations that show the UTR of a payment, and its events. */
export const UTR_SHOWN: readonly string[] = [
  'createTransaction',
  'getTransaction',
  'listTransactions',
  'listTransactionHistory',
  'listUserTransactionHistory',
  'webhooks',
]

/** What a reading changes in the schema of an operation's body or query; another schema is returned as it is. */
export type SchemaChange = (schema: z.ZodObject, operation: string) => z.ZodObject

/** The change of a reading that is written in the schemas themselves. */
export const unchanged: SchemaChange = (schema) => schema

/** Replaces the fields of these names; `change` gets the present schema of a field. */
export const changeFields =
  (
    names: readonly string[],
    change: (field: z.ZodType) => z.ZodType,
    of: (operation: string) => boolean = () => true,
  ): SchemaChange =>
  (schema, operation) => {
    const found = names.filter((name) => Object.hasOwn(schema.shape, name))
    if (found.length === 0 || !of(operation)) return schema
    const fields = found.map((name) => [name, change(schema.shape[name] as z.ZodType)] as const)
    return schema.safeExtend(Object.fromEntries(fields))
  }

/** A field that may have any value, and always counts as missing. */
export const ignored = (field: z.ZodType): z.ZodType =>
  z
    .unknown()
    .optional()
    .transform(() => field.parse(undefined))

/** What the default of an assumption rests on: the text of the contract, a response in it, similar providers, or nothing. */
export const Basis = z.enum(['contract', 'observed', 'convention', 'guess'])
export type Basis = z.infer<typeof Basis>
