// The published types of the library contain this file unchanged, so it must import nothing.

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json }

/** A condition on a value: a plain value (equal), a comparison, or a mapping of fields to conditions. */
export type Condition =
  | string
  | number
  | boolean
  | null
  | readonly unknown[]
  | { [key: string]: Condition }
