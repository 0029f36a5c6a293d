import * as z from 'zod'
import { AccountNumber } from './account-formats.ts'
import { envelope } from './envelope.ts'
import { Timestamp, Uuid } from './formats.ts'
import { MaskedIfsc, MaskedNumber, sandboxDefault } from './sandbox-default.ts'

export const BankStatus = sandboxDefault(z.enum(['pending', 'success', 'failed']))
export type BankStatus = z.infer<typeof BankStatus>

const IfscOfAnyCase = z
  .string()
  .regex(/^[A-Za-z]{4}0[A-Za-z0-9]{6}$/, {
    error: 'must be four letters, 0, and six letters or digits',
  })
  .toUpperCase()

/** A bank account as stored: full numbers, and the account name that the bank returned. */
export const BankAccountRow = z.strictObject({
  bank_id: Uuid,
  user_id: Uuid,
  account_number: z.string(),
  ifsc_code: z.string(),
  bank_status: BankStatus,
  account_name: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type BankAccountRow = z.infer<typeof BankAccountRow>

/** The penny drop's result, only in the creation response; its inner statusCode is a string. */
export const BankMetadata = z
  .strictObject({
    statusCode: z.int(),
    response: z.strictObject({
      status: z.boolean(),
      code: z.int(),
      message: z.string(),
      data: z.strictObject({
        status: z.string(),
        statusCode: z.string(),
        result: z.strictObject({
          bankResponse: z.string(),
          ifsc: MaskedIfsc,
          accountNumber: MaskedNumber,
          accountName: z.string(),
          bankTxnStatus: z.boolean(),
        }),
      }),
    }),
  })
  .meta({ id: 'BankMetadata' })
export type BankMetadata = z.infer<typeof BankMetadata>

/** The words of `bank_status` in responses, of every reading of `status_words`. */
const ShownBankStatus = sandboxDefault(z.enum([...BankStatus.options, 'in_progress', 'rejected']))

const publicFields = {
  bank_id: Uuid,
  user_id: Uuid,
  bank_name: z.string().nullable(),
  account_number: MaskedNumber,
  ifsc_code: MaskedIfsc,
  bank_status: ShownBankStatus,
}

/** Interface 2.3, without metadata. */
export const BankAccount = z
  .strictObject({ ...publicFields, created_at: Timestamp, updated_at: Timestamp })
  .meta({ id: 'BankAccount' })

/** The receiving account inside a transaction. */
export const BenifBank = z.strictObject(publicFields).meta({ id: 'BenifBank' })

/** Body of POST /bank. */
export const AddBankAccount = z
  .object({ user_id: Uuid, account_number: AccountNumber, ifsc_code: IfscOfAnyCase })
  .meta({ id: 'AddBankAccount' })
export type AddBankAccount = z.infer<typeof AddBankAccount>

export const AddBankAccountResponse = envelope(
  201,
  z.strictObject({
    status: z.boolean(),
    message: z.string(),
    data: z.strictObject({
      ...publicFields,
      // An object or null, says the contract.
      metadata: sandboxDefault(BankMetadata.clone(), BankMetadata.nullable()),
      created_at: Timestamp,
      updated_at: Timestamp,
    }),
  }),
).meta({ id: 'AddBankAccountResponse' })

export const ListBankAccountsResponse = envelope(200, z.array(BankAccount)).meta({
  id: 'ListBankAccountsResponse',
})
