import * as z from 'zod'

/** What the default of an assumption rests on: the text of the contract, a response in it, similar providers, or nothing. */
export const Basis = z.enum(['contract', 'observed', 'convention', 'guess'])
export type Basis = z.infer<typeof Basis>
