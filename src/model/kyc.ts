import * as z from 'zod'
import { ANY_VALUE, MaskedNumber, SUCCESS, sandboxDefault } from './client.ts'
import { DAY_FIRST, IsoDate, named, rowTimes, text, Uuid, VisibleAt, yearFirst } from './formats.ts'
import { maskNumber } from './mask.ts'
import { checkMetadata, envelope } from './paging.ts'
import { User } from './user.ts'

export const KycStatus = sandboxDefault(z.enum(['pending', 'success', 'failed']))
export type KycStatus = z.infer<typeof KycStatus>
export const DocumentType = sandboxDefault(z.enum(['pid', 'tid']))
export const DocumentName = sandboxDefault(z.enum(['aadhar', 'pan']))

/** A type or a name of a document as a caller sent it; a bad document is stored too. */
const SentWord = text(64)
/** Such a word as it is stored: masked, which can make it longer. */
const StoredWord = sandboxDefault(text(200))

/** The result of a PAN check; `name` and `dateOfBirth` are results of comparisons. */
export const PanResult = z.strictObject({
  pan: MaskedNumber,
  panStatus: z.string(),
  name: z.string(),
  dateOfBirth: z.string(),
  aadhaarSeedingStatus: z.string(),
})
export type PanResult = z.infer<typeof PanResult>

/** The verification result of a record that the system verified. */
export const KycMetadata = checkMetadata(
  'KycMetadata',
  z.strictObject({
    status: z.string(),
    statusCode: z.int(),
    // Shown for tid/pan alone.
    result: sandboxDefault(PanResult.nullable(), z.looseObject({}).nullable()),
    metaData: z.strictObject({
      requestId: z.string(),
      transactionId: sandboxDefault(Uuid.clone()),
    }),
  }),
)
export type KycMetadata = z.infer<typeof KycMetadata>

/** A KYC record as stored: the full number. */
export const KycRow = z.strictObject({
  kyc_id: Uuid,
  user_id: Uuid,
  country: z.string().length(2),
  document_type: StoredWord,
  document_name: StoredWord,
  document_number: z.string(),
  full_name: z.string(),
  dob: IsoDate,
  kyc_status: KycStatus,
  verified_by: sandboxDefault(z.enum(['client', 'system'])),
  metadata: KycMetadata.nullable(),
  ...rowTimes,
  visible_at: VisibleAt,
})
export type KycRow = z.infer<typeof KycRow>

/** Interface 2.2. */
export const KycRecord = named('KycRecord', {
  ...KycRow.omit({ metadata: true, created_at: true, updated_at: true, visible_at: true }).shape,
  document_number: MaskedNumber,
  // The words of every reading of `status_words`.
  kyc_status: sandboxDefault(z.enum([...KycStatus.options, 'verified'])),
  vp: sandboxDefault(z.null(), ANY_VALUE.describe('Null in all known examples of the contract.')),
  metadata: KycMetadata.nullable(),
  ...rowTimes,
})

/** One document of POST /kyc, field names as the service has them. */
export const KycItem = z
  .object({
    document_type: SentWord.describe('pid or tid; another one fails.'),
    document_name: SentWord.describe('aadhar with pid, pan with tid.'),
    document_number: text(64, 0).describe(
      'At most 64 characters; may be empty. An invalid number results in a failed entry.',
    ),
    dateOfBirth: z.string().regex(DAY_FIRST, { error: 'must be a real date as DD-MM-YYYY' }),
    Nationality: text(64),
    nameOnCard: text(200),
  })
  .meta({
    id: 'KycItem',
    description:
      'One document. document_name is aadhar with pid, pan with tid; dateOfBirth is DD-MM-YYYY.',
  })
export type KycItem = z.infer<typeof KycItem>

export const SubmitKyc = z
  .object({ user_id: Uuid, kyc: z.array(KycItem).min(1).max(50).describe('1 to 50 documents.') })
  .meta({ id: 'SubmitKyc' })
export type SubmitKyc = z.infer<typeof SubmitKyc>

export const SubmitKycResponse = envelope(
  'SubmitKycResponse',
  201,
  z.array(z.strictObject({ status: z.boolean(), message: z.string(), data: KycRecord })),
)

/** GET /kyc/:userId has an envelope of its own. */
export const GetKycResponse = named('GetKycResponse', {
  status: SUCCESS,
  data: z.strictObject({
    statusCode: z.literal(200),
    response: z.strictObject({
      status: SUCCESS,
      code: z.literal(200),
      message: z.string(),
      data: z.strictObject({ user: z.array(User), kycData: z.array(KycRecord) }),
    }),
  }),
})

/** The result of a PAN check that found nothing wrong. */
export const CHECKED = {
  panStatus: 'EXISTING AND VALID',
  name: 'MATCHING',
  dateOfBirth: 'MATCHING',
  aadhaarSeedingStatus: 'Y',
}
/** That of one that found no such PAN. */
export const PAN_NOT_FOUND = {
  panStatus: 'Record (PAN) Not Found in ITD Database/Invalid PAN',
  name: 'NOT MATCHING',
  dateOfBirth: 'NOT MATCHING',
  aadhaarSeedingStatus: 'NA',
}
// The source was down.
const NOT_CHECKED = { panStatus: 'NA', name: 'NA', dateOfBirth: 'NA', aadhaarSeedingStatus: 'NA' }

/** The result of a PAN check; `more` has the fields that differ from a clean one, or from that of a source that is down. */
export const panResult = (
  number: string,
  statusCode: number,
  more: Partial<Omit<PanResult, 'pan'>> = {},
) => ({ pan: maskNumber(number), ...(statusCode === 503 ? NOT_CHECKED : CHECKED), ...more })

export const panMetadata = (
  ok: boolean,
  message: string,
  statusCode: number,
  result: PanResult | null,
  metaData: { requestId: string; transactionId: string },
): KycMetadata => ({
  statusCode,
  response: {
    status: ok,
    code: statusCode,
    message,
    data: { status: ok ? 'success' : 'failure', statusCode, result, metaData },
  },
})

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

const TURNED = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]

/** The product of two symmetries of a pentagon: 0 to 4 are rotations, 5 to 9 reflections. */
function product(a: number, b: number): number {
  if (a < 5) return b < 5 ? (a + b) % 5 : 5 + ((a + b) % 5)
  return b < 5 ? 5 + ((a - b) % 5) : (a - b + 5) % 5
}

/** Whether 12 digits end in the check digit of an Aadhaar number (Verhoeff's scheme). */
export function isAadhaar(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    let digit = Number(digits[digits.length - 1 - place])
    for (let turn = 0; turn < place % 8; turn++) digit = TURNED[digit]!
    sum = product(sum, digit)
  }
  return sum === 0
}
