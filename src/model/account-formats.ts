import * as z from 'zod'

export const AccountNumber = z
  .string()
  .regex(/^[A-Za-z0-9]{5,35}$/, { error: 'must be 5 to 35 letters and digits' })

/** An account number as a strict service accepts it. */
export const DigitsOnly = z.string().regex(/^\d{9,18}$/, { error: 'must be 9 to 18 digits' })

export const IfscCode = z.string().regex(/^[A-Z]{4}0[A-Z0-9]{6}$/, {
  error: 'must be four upper-case letters, 0, and six upper-case letters or digits',
})
