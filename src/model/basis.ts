import * as z from 'zod'

/**
 * What the default of an assumption rests on. `contract`: the text implies it. `observed`: the contract shows it in a
 * response. `convention`: similar Indian providers do so. `guess`: none of these, so it promises the least.
 */
export const Basis = z.enum(['contract', 'observed', 'convention', 'guess'])
export type Basis = z.infer<typeof Basis>
