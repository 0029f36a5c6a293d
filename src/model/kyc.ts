import * as z from 'zod'
import { envelope } from './envelope.ts'
import type { FieldError } from './errors.ts'
import { IsoDate, isoDateOf, Timestamp, text, Uuid } from './formats.ts'
import { type JsonText, stringify } from './json-text.ts'
import { maskNumber } from './mask.ts'
import { ANY_VALUE, MaskedNumber, sandboxDefault } from './sandbox-default.ts'
import { User } from './user.ts'

export const KycStatus = sandboxDefault(z.enum(['pending', 'success', 'failed']))
export type KycStatus = z.infer<typeof KycStatus>
export const DocumentType = sandboxDefault(z.enum(['pid', 'tid']))
export const DocumentName = sandboxDefault(z.enum(['aadhar', 'pan']))

/** Which document goes with which type. */
export const DOCUMENT_OF = { pid: 'aadhar', tid: 'pan' } as const

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
export const KycMetadata = z
  .strictObject({
    statusCode: z.int(),
    response: z.strictObject({
      status: z.boolean(),
      code: z.int(),
      message: z.string(),
      data: z.strictObject({
        status: z.string(),
        statusCode: z.int(),
        // Shown for tid/pan alone.
        result: sandboxDefault(PanResult.nullable(), z.looseObject({}).nullable()),
        metaData: z.strictObject({
          requestId: z.string(),
          transactionId: sandboxDefault(Uuid.clone()),
        }),
      }),
    }),
  })
  .meta({ id: 'KycMetadata' })
export type KycMetadata = z.infer<typeof KycMetadata>

/** A KYC record as stored: the full number. */
export const KycRow = z.strictObject({
  kyc_id: Uuid,
  user_id: Uuid,
  country: z.string().length(2),
  document_type: DocumentType,
  document_name: DocumentName,
  document_number: z.string(),
  full_name: z.string(),
  dob: IsoDate,
  kyc_status: KycStatus,
  verified_by: sandboxDefault(z.enum(['client', 'system'])),
  metadata: KycMetadata.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type KycRow = z.infer<typeof KycRow>

/** Interface 2.2. */
export const KycRecord = z
  .strictObject({
    ...KycRow.omit({ metadata: true, created_at: true, updated_at: true }).shape,
    document_number: MaskedNumber,
    // Null in all known examples; the contract does not specify it.
    vp: sandboxDefault(z.null(), ANY_VALUE),
    metadata: KycMetadata.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'KycRecord' })

// Nobody who is alive was born earlier.
const FIRST_BIRTH = '1900-01-01'

/** One document of POST /kyc, field names as the service has them. */
export const KycItem = z
  .object({
    document_type: DocumentType,
    document_name: DocumentName,
    document_number: text(64, 0).meta({
      description:
        'At most 64 characters; may be empty. An invalid number results in a failed entry.',
    }),
    dateOfBirth: z
      .string()
      .refine((date) => (isoDateOf(date) ?? '') >= FIRST_BIRTH, {
        error: 'must be a real date as DD-MM-YYYY, in 1900 or later',
      })
      .meta({ pattern: '^\\d{2}-\\d{2}-\\d{4}$' }),
    Nationality: text(64),
    nameOnCard: text(200),
  })
  .refine((item) => DOCUMENT_OF[item.document_type] === item.document_name, {
    path: ['document_name'],
    error: 'must be aadhar with pid, or pan with tid',
    params: { code: 'invalid_value' },
  })
  .meta({
    id: 'KycItem',
    description:
      'One document. document_name is aadhar with pid, pan with tid; dateOfBirth is DD-MM-YYYY.',
  })
export type KycItem = z.infer<typeof KycItem>

/** Body of POST /kyc. */
export const SubmitKyc = z
  .object({
    user_id: Uuid,
    kyc: z.array(KycItem).min(1).max(50).meta({ description: '1 to 50 documents.' }),
  })
  .meta({ id: 'SubmitKyc' })
export type SubmitKyc = z.infer<typeof SubmitKyc>

/** The errors of dates of birth after a day, YYYY-MM-DD. */
export const birthErrors = ({ kyc }: SubmitKyc, today: string): FieldError[] =>
  kyc.flatMap(({ dateOfBirth }, i) =>
    isoDateOf(dateOfBirth)! <= today
      ? []
      : {
          field: `kyc[${i}].dateOfBirth`,
          code: 'invalid_format',
          message: `must not be later than today, ${today}; found "${dateOfBirth}"`,
        },
  )

export const SubmitKycResponse = envelope(
  201,
  z.array(z.strictObject({ status: z.boolean(), message: z.string(), data: KycRecord })),
).meta({ id: 'SubmitKycAnswer' })

/** GET /kyc/:userId has an envelope of its own. */
export const GetKycResponse = z
  .strictObject({
    status: z.literal(true),
    data: z.strictObject({
      statusCode: z.literal(200),
      response: z.strictObject({
        status: z.literal(true),
        code: z.literal(200),
        message: z.string(),
        data: z.strictObject({ user: z.array(User), kycData: z.array(KycRecord) }),
      }),
    }),
  })
  .meta({ id: 'GetKycAnswer' })

/** The JSON text of a record, masked. */
export const kycText = (row: KycRow): JsonText => {
  const { metadata, created_at, updated_at, ...rest } = row
  return stringify({
    ...rest,
    document_number: maskNumber(row.document_number),
    vp: null,
    metadata,
    created_at,
    updated_at,
  })
}

/** The two-letter country code of a Nationality; XX (unknown in ISO 3166) if it has no known code. */
export function countryOf(nationality: string): string {
  const word = nationality.trim().toUpperCase()
  if (['INDIAN', 'INDIA', 'IND', 'IN'].includes(word)) return 'IN'
  return /^[A-Z]{2}$/.test(word) ? word : 'XX'
}
