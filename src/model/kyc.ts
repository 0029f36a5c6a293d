import * as z from 'zod'
import { envelope } from './envelope.ts'
import { DAY_FIRST, IsoDate, Timestamp, text, Uuid } from './formats.ts'
import { ANY_VALUE, MaskedNumber, SUCCESS, sandboxDefault } from './sandbox-default.ts'
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
  document_type: StoredWord,
  document_name: StoredWord,
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
    // The words of every reading of `status_words`.
    kyc_status: sandboxDefault(z.enum([...KycStatus.options, 'verified'])),
    vp: sandboxDefault(
      z.null(),
      ANY_VALUE.meta({ description: 'Null in all known examples of the contract.' }),
    ),
    metadata: KycMetadata.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'KycRecord' })

/** One document of POST /kyc, field names as the service has them. */
export const KycItem = z
  .object({
    document_type: SentWord.meta({ description: 'pid or tid; another one fails.' }),
    document_name: SentWord.meta({ description: 'aadhar with pid, pan with tid.' }),
    document_number: text(64, 0).meta({
      description:
        'At most 64 characters; may be empty. An invalid number results in a failed entry.',
    }),
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

/** Body of POST /kyc. */
export const SubmitKyc = z
  .object({
    user_id: Uuid,
    kyc: z.array(KycItem).min(1).max(50).meta({ description: '1 to 50 documents.' }),
  })
  .meta({ id: 'SubmitKyc' })
export type SubmitKyc = z.infer<typeof SubmitKyc>

export const SubmitKycResponse = envelope(
  201,
  z.array(z.strictObject({ status: z.boolean(), message: z.string(), data: KycRecord })),
).meta({ id: 'SubmitKycResponse' })

/** GET /kyc/:userId has an envelope of its own. */
export const GetKycResponse = z
  .strictObject({
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
  .meta({ id: 'GetKycResponse' })
