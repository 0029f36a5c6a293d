import * as z from 'zod'
import { MaskedIfsc, MaskedNumber, sandboxDefault } from './client.ts'
import { named, rowTimes, Uuid, VisibleAt } from './formats.ts'
import { checkMetadata, envelope } from './paging.ts'

export const AccountNumber = z
  .string()
  .regex(/^[A-Za-z0-9]{5,35}$/, { error: 'must be 5 to 35 letters and digits' })

/** An account number as a strict service accepts it. */
export const DigitsOnly = z.string().regex(/^\d{9,18}$/, { error: 'must be 9 to 18 digits' })

export const IfscCode = z.string().regex(/^[A-Z]{4}0[A-Z0-9]{6}$/, {
  error: 'must be four upper-case letters, 0, and six upper-case letters or digits',
})

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
  ...rowTimes,
  visible_at: VisibleAt,
})
export type BankAccountRow = z.infer<typeof BankAccountRow>

/** The penny drop's result, only in the creation response; its inner statusCode is a string. */
export const BankMetadata = checkMetadata(
  'BankMetadata',
  z.strictObject({
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
)
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
export const BankAccount = named('BankAccount', { ...publicFields, ...rowTimes })

/** The receiving account inside a transaction. */
export const BenifBank = named('BenifBank', publicFields)

export const AddBankAccount = z
  .object({ user_id: Uuid, account_number: AccountNumber, ifsc_code: IfscOfAnyCase })
  .meta({ id: 'AddBankAccount' })
export type AddBankAccount = z.infer<typeof AddBankAccount>

export const AddBankAccountResponse = envelope(
  'AddBankAccountResponse',
  201,
  z.strictObject({
    status: z.boolean(),
    message: z.string(),
    data: z.strictObject({
      ...publicFields,
      // An object or null, says the contract.
      metadata: sandboxDefault(BankMetadata.clone(), BankMetadata.nullable()),
      ...rowTimes,
    }),
  }),
)

export const ListBankAccountsResponse = envelope(
  'ListBankAccountsResponse',
  200,
  z.array(BankAccount),
)

const NAMES: Readonly<Record<string, string>> = {
  AIRP: 'Airtel Payments Bank',
  AUBL: 'AU Small Finance Bank',
  BARB: 'Bank of Baroda',
  BDBL: 'Bandhan Bank',
  BKID: 'Bank of India',
  CBIN: 'Central Bank of India',
  CITI: 'Citibank',
  CIUB: 'City Union Bank',
  CNRB: 'Canara Bank',
  CSBK: 'CSB Bank',
  DBSS: 'DBS Bank India',
  DCBL: 'DCB Bank',
  DEUT: 'Deutsche Bank',
  DLXB: 'Dhanlaxmi Bank',
  ESFB: 'Equitas Small Finance Bank',
  FDRL: 'Federal Bank',
  HDFC: 'HDFC Bank',
  HSBC: 'HSBC',
  IBKL: 'IDBI Bank',
  ICIC: 'ICICI Bank',
  IDFB: 'IDFC FIRST Bank',
  IDIB: 'Indian Bank',
  INDB: 'IndusInd Bank',
  IOBA: 'Indian Overseas Bank',
  IPOS: 'India Post Payments Bank',
  JAKA: 'Jammu & Kashmir Bank',
  JIOP: 'Jio Payments Bank',
  JSFB: 'Jana Small Finance Bank',
  KARB: 'Karnataka Bank',
  KKBK: 'Kotak Mahindra Bank',
  KVBL: 'Karur Vysya Bank',
  MAHB: 'Bank of Maharashtra',
  NKGS: 'NKGSB Co-operative Bank',
  PSIB: 'Punjab & Sind Bank',
  PUNB: 'Punjab National Bank',
  PYTM: 'Paytm Payments Bank',
  RATN: 'RBL Bank',
  SBIN: 'State Bank of India',
  SCBL: 'Standard Chartered Bank',
  SIBL: 'South Indian Bank',
  SRCB: 'Saraswat Co-operative Bank',
  TMBL: 'Tamilnad Mercantile Bank',
  UBIN: 'Union Bank of India',
  UCBA: 'UCO Bank',
  UJVN: 'Ujjivan Small Finance Bank',
  UTIB: 'Axis Bank',
  UTKS: 'Utkarsh Small Finance Bank',
  YESB: 'Yes Bank',
}

/** A bank's name from an IFSC's first four letters; those letters where it is unknown. */
export const bankNameOf = (ifsc: string): string => NAMES[ifsc.slice(0, 4)] ?? ifsc.slice(0, 4)

const words = (text: string) => text.split(' ')

const FIRST = words(
  'AARAV ADITI AMIT ANITA ARJUN DEEPA DIVYA FARHAN GAURAV HARSHA ISHA JATIN KAVITA KIRAN ' +
    'LEELA MANISH MEENA NIKHIL POOJA RAHUL REKHA SAMEER SNEHA VIKRAM',
)
const LAST = words(
  'AGARWAL BANERJEE CHOPRA DAS GUPTA IYER JAIN KAPOOR KHAN KULKARNI MEHTA MENON NAIR PATEL ' +
    'PILLAI RAO REDDY SETHI SHARMA SINGH THOMAS VARMA YADAV',
)

/** A made-up account holder; one account number always has the same one. */
export function holderNameOf(accountNumber: string): string {
  let hash = 7
  for (const digit of accountNumber) hash = (hash * 31 + digit.charCodeAt(0)) % 1_000_003
  return `${FIRST[hash % FIRST.length]} ${LAST[Math.floor(hash / FIRST.length) % LAST.length]}`
}
