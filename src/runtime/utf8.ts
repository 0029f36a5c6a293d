/** The most bytes of UTF-8 that a unit of a JavaScript string takes. */
export const MAX_UNIT_BYTES = 3
