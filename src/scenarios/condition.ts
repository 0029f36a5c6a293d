// Published with the types of the library as it stands here: it imports nothing.

/** A value of JSON. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json }

/** What a value must be: itself, a comparison, or a mapping of fields to conditions. */
export type Condition =
  | string
  | number
  | boolean
  | null
  | readonly unknown[]
  | { [key: string]: Condition }
