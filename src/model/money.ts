/** A decimal text as a caller may send it. */
export const DECIMAL = /^\d{1,10}(\.\d{1,2})?$/

/** The minimum amount of a payment, in paise. */
export const MIN_PAISE = 100
/** The maximum amount, in paise. */
export const MAX_PAISE = 999_999_999_999

/** Whole paise of a number or decimal text; `undefined` for a third decimal, a sign, an exponent or too many digits. */
export function paiseOf(amount: number | string): number | undefined {
  if (typeof amount === 'number') {
    const paise = Math.round(amount * 100)
    // Only what has at most two decimals is the number that is nearest to a whole number of paise.
    return amount >= 0 && amount < 1e10 && paise / 100 === amount ? paise : undefined
  }
  if (!DECIMAL.test(amount)) return undefined
  const [rupees, fraction = ''] = amount.split('.')
  return Number(rupees) * 100 + Number(fraction.padEnd(2, '0'))
}

/** `10050` -> `"100.50"`. */
export const rupeesOf = (paise: number): string =>
  `${Math.floor(paise / 100)}.${String(paise % 100).padStart(2, '0')}`
