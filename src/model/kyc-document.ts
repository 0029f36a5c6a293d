import { yearFirst } from './formats.ts'
import type { KycItem, PanResult } from './kyc.ts'
import { maskNumber } from './mask.ts'

const CHECKED = {
  panStatus: 'EXISTING AND VALID',
  name: 'MATCHING',
  dateOfBirth: 'MATCHING',
  aadhaarSeedingStatus: 'Y',
}
// The source was down.
const NOT_CHECKED = {
  panStatus: 'NA',
  name: 'NA',
  dateOfBirth: 'NA',
  aadhaarSeedingStatus: 'NA',
}

/** The result of a PAN check; `more` has the fields that differ from a clean one, or from that of a source that is down. */
export const panResult = (
  number: string,
  statusCode: number,
  more: Partial<Omit<PanResult, 'pan'>> = {},
): PanResult => ({
  pan: maskNumber(number),
  ...(statusCode === 503 ? NOT_CHECKED : CHECKED),
  ...more,
})

/** Which document goes with which type. */
export const DOCUMENT_OF: Readonly<Record<string, string>> = { pid: 'aadhar', tid: 'pan' }

const WORDS = { document_type: ['pid', 'tid'], document_name: ['aadhar', 'pan'] } as const

// Nobody who is alive was born earlier.
const FIRST_BIRTH = '1900-01-01'

/** What is wrong with a date of birth; `today` is YYYY-MM-DD. */
function birthProblem(dateOfBirth: string, today: string): string | undefined {
  const date = yearFirst(dateOfBirth)
  if (date < FIRST_BIRTH) return 'must be in 1900 or later'
  return date > today ? `must not be later than today, ${today}` : undefined
}

/** The first problem of a document that cannot be checked at all; `undefined` if there is none. `today` is YYYY-MM-DD. */
export function badDocument(
  item: KycItem,
  today: string,
): { field: keyof KycItem; code: string; message: string } | undefined {
  for (const [field, words] of Object.entries(WORDS) as [keyof typeof WORDS, readonly string[]][])
    if (!words.includes(item[field]))
      return { field, code: 'invalid_value', message: `must be one of ${words.join(', ')}` }
  if (DOCUMENT_OF[item.document_type] !== item.document_name)
    return {
      field: 'document_name',
      code: 'invalid_value',
      message: 'must be aadhar with pid, or pan with tid',
    }
  const message = birthProblem(item.dateOfBirth, today)
  return message === undefined
    ? undefined
    : { field: 'dateOfBirth', code: 'invalid_format', message }
}

/** The two-letter country code of a Nationality; XX (unknown in ISO 3166) if it has no known code. */
export function countryOf(nationality: string): string {
  const word = nationality.trim().toUpperCase()
  if (['INDIAN', 'INDIA', 'IND', 'IN'].includes(word)) return 'IN'
  return /^[A-Z]{2}$/.test(word) ? word : 'XX'
}
