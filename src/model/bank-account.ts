import * as z from 'zod'
import { envelope } from './envelope.ts'
import { Timestamp, Uuid } from './formats.ts'
import { type JsonText, json, stringify, timesText, unescaped } from './json-text.ts'
import { maskIfsc, maskNumber } from './mask.ts'
import { MaskedIfsc, MaskedNumber, sandboxDefault } from './sandbox-default.ts'

export const BankStatus = sandboxDefault(z.enum(['pending', 'success', 'failed']))
export type BankStatus = z.infer<typeof BankStatus>

export const AccountNumber = z
  .string()
  .regex(/^[A-Za-z0-9]{5,35}$/, { error: 'must be 5 to 35 letters and digits' })
/** An account number as a strict service accepts it. */
export const DigitsOnly = z.string().regex(/^\d{9,18}$/, { error: 'must be 9 to 18 digits' })
export const IfscCode = z.string().regex(/^[A-Z]{4}0[A-Z0-9]{6}$/, {
  error: 'must be four upper-case letters, 0, and six upper-case letters or digits',
})
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
).meta({ id: 'AddBankAccountAnswer' })

export const ListBankAccountsResponse = envelope(200, z.array(BankAccount)).meta({
  id: 'ListBankAccountsAnswer',
})

/** The JSON text of the public fields of a bank account, without braces; only user input needs escaping. */
export const accountTextParts = (
  bank_id: string,
  user_id: string,
  row: { account_number: string; ifsc_code: string; bank_status: BankStatus },
): JsonText => {
  const ids = json(`"bank_id":"${unescaped(bank_id)}","user_id":"${unescaped(user_id)}"`)
  const [number, ifsc] = [
    stringify(maskNumber(row.account_number)),
    stringify(maskIfsc(row.ifsc_code)),
  ]
  return json(
    `${ids},"bank_name":null,"account_number":${number},"ifsc_code":${ifsc},"bank_status":"${row.bank_status}"`,
  )
}

/** The JSON text of an account in a list. */
export const bankAccountText = (row: BankAccountRow): JsonText =>
  json(`{${accountTextParts(row.bank_id, row.user_id, row)},${timesText(row)}}`)
