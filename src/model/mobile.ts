import * as z from 'zod'

const SEPARATORS = /[ ().-]/g

/** A mobile as a lenient service accepts it, and as rows contain it. */
export const AnyMobile = z
  .string()
  .max(40)
  .regex(/^\+?(?:[ ().-]*\d){7,15}[ )]*$/, { error: 'must have 7 to 15 digits' })

/** One spelling of a mobile, so that +91 and bare ten digits are one number. */
export const mobileKey = (mobile: string): string =>
  mobile.replaceAll(SEPARATORS, '').replace(/^(?:\+?91|0)?(?=[6-9]\d{9}$)/, '+91')
