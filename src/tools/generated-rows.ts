import { en, en_IN, Faker } from '@faker-js/faker'
import { isoOf } from '../model/formats.ts'
import { CHECKED, isAadhaar, PAN_NOT_FOUND } from '../model/kyc.ts'
import { FAILURE_REASONS } from '../model/payment.ts'
import { createRandom, type Random } from '../runtime/random.ts'

const DAY_MS = 86_400_000
// Users sign up in 2024 and payments are made in 2025, both before the start time of a frozen clock.
const SIGN_UPS = Date.parse('2024-01-01T04:00:00Z')
const PAYMENTS = Date.parse('2025-01-01T04:00:00Z')
const SPAN_MS = 360 * DAY_MS
// Random numbers reserved for one user: first the ids, then the parts of the name.
const DRAWS_PER_USER = 64
const NAME_DRAW = 16
// A world with the same seed counts up from 0, so its ids never equal these.
const FIRST_DRAW = 2 ** 40

const BANKS = ['HDFC', 'ICIC', 'SBIN', 'UTIB', 'KKBK', 'PUNB', 'BARB', 'CNRB', 'UBIN', 'YESB']
const TRADES = ['Traders', 'Textiles', 'Electricals', 'Foods', 'Logistics', 'Stores', 'Handlooms']
const REMARKS = ['Rent', 'Salary', 'Invoice', 'Refund', 'Commission', 'Freelance work', 'Groceries']
const PAN_FAILURES = [
  {
    ...CHECKED,
    message: 'Name does not match the PAN record',
    statusCode: 200,
    name: 'NOT MATCHING',
  },
  { message: 'PAN not found', statusCode: 404, ...PAN_NOT_FOUND },
]

const padded = (n: number, length: number) => String(n).padStart(length, '0')
const statusOf = (chance: number) =>
  chance < 0.85 ? 'success' : chance < 0.95 ? 'failed' : 'pending'

/** The rows of each user. They depend only on the seed, the number of users and the index of the user. */
export class GeneratedRows {
  readonly #users: number
  readonly #draw = { counter: 0 }
  readonly #random: Random
  readonly #faker: Faker
  #serial = 0

  constructor(users: number, seed: number) {
    this.#users = users
    this.#random = createRandom(seed, this.#draw)
    this.#faker = new Faker({
      locale: [en_IN, en],
      randomizer: { next: this.#random.fraction, seed: () => {} },
    })
  }

  #pick<T>(list: readonly T[], label: string, n: number): T {
    return list[Math.floor(this.#random.at(label, n) * list.length)]!
  }

  #id(user: number, which: number): string {
    this.#draw.counter = FIRST_DRAW + user * DRAWS_PER_USER + which
    return this.#random.uuid()
  }

  #isBusiness(user: number): boolean {
    return this.#random.at('business', user) < 0.15
  }

  #signedUp(user: number): number {
    return SIGN_UPS + (user + this.#random.at('signed up', user)) * (SPAN_MS / this.#users)
  }

  #nameOf(user: number): string {
    this.#draw.counter = FIRST_DRAW + user * DRAWS_PER_USER + NAME_DRAW
    const last = this.#faker.person.lastName()
    return this.#isBusiness(user)
      ? `${last} ${this.#faker.helpers.arrayElement(TRADES)}`
      : `${this.#faker.person.firstName()} ${last}`
  }

  #accountOf(user: number) {
    if (this.#random.at('account', user) >= 0.8) return undefined
    const chance = this.#random.at('account status', user)
    const bank_status = chance < 0.9 ? 'success' : chance < 0.95 ? 'pending' : 'failed'
    return { bank_id: this.#id(user, 3), bank_status }
  }

  #dobOf(user: number): string {
    const [from, to] = this.#isBusiness(user) ? [2000, 2020] : [1955, 2004]
    const age = this.#random.at('born', user) * (to - from) * 365 * DAY_MS
    return isoOf(Date.UTC(from, 0, 1) + age).slice(0, 10)
  }

  /** An invalid Aadhaar number: the last digit is never the check digit. */
  #aadhaarOf(user: number): string {
    const body = `9999999${padded(Math.floor(this.#random.at('aadhaar', user) * 9_000), 4)}`
    const last = Math.floor(this.#random.at('check digit', user) * 10)
    return isAadhaar(body + last) ? `${body}${(last + 1) % 10}` : `${body}${last}`
  }

  #panRow(user: number) {
    const kyc_status = statusOf(this.#random.at('pan status', user))
    const { message, statusCode, ...result } = this.#pick(PAN_FAILURES, 'pan fault', user)
    return {
      kyc_id: this.#id(user, 1),
      user_id: this.#id(user, 0),
      document_type: 'tid',
      document_name: 'pan',
      document_number: `XXXPX${2_000 + Math.floor(this.#random.at('pan', user) * 8_000)}A`,
      full_name: this.#nameOf(user),
      dob: this.#dobOf(user),
      kyc_status,
      verified_by: 'system',
      ...(kyc_status === 'success' && { statusCode: 200, result: CHECKED }),
      ...(kyc_status === 'failed' && { message, statusCode, result }),
      ...(kyc_status === 'pending' && { message: 'PAN source is not available', statusCode: 503 }),
      created_at: isoOf(this.#signedUp(user) + 240_000),
    }
  }

  #aadhaarRow(user: number) {
    const created = this.#signedUp(user) + 240_000
    const kyc_status = statusOf(this.#random.at('aadhaar status', user))
    return {
      kyc_id: this.#id(user, 2),
      user_id: this.#id(user, 0),
      document_type: 'pid',
      document_name: 'aadhar',
      document_number: this.#aadhaarOf(user),
      full_name: this.#nameOf(user),
      dob: this.#dobOf(user),
      kyc_status,
      verified_by: 'client',
      created_at: isoOf(created),
      ...(kyc_status !== 'pending' && { updated_at: isoOf(created + 5_000) }),
    }
  }

  #userRow(user: number) {
    const name = this.#nameOf(user)
      .replaceAll(/[^a-z]+/gi, '.')
      .toLowerCase()
    return {
      user_id: this.#id(user, 0),
      ...(this.#isBusiness(user) && { user_type: 'business' }),
      email: `${name}.${user + 1}@example.${this.#random.at('mail', user) < 0.5 ? 'com' : 'org'}`,
      mobile: `+919${padded(user + 1, 9)}`,
      created_at: isoOf(this.#signedUp(user)),
    }
  }

  #accountRows(user: number) {
    const account = this.#accountOf(user)
    if (!account) return []
    const branch = padded(Math.floor(this.#random.at('branch', user) * 1_000), 6)
    return [
      {
        bank_id: account.bank_id,
        user_id: this.#id(user, 0),
        account_number: `99995${padded(user + 1, 9)}`,
        ifsc_code: `${this.#pick(BANKS, 'bank', user)}0${branch}`,
        bank_status: account.bank_status,
        account_holder_name: this.#nameOf(user).toUpperCase(),
        created_at: isoOf(this.#signedUp(user) + 600_000),
      },
    ]
  }

  #paymentRow(receiver: number, serial: number, at_ms: number) {
    const other = Math.floor(this.#random.at('payer', serial) * (this.#users - 1))
    const payer = other >= receiver ? other + 1 : other
    const chance = this.#random.at('payment status', serial)
    const unfinished = chance < 0.985 ? 'PROCESSING' : 'PENDING'
    const status = chance < 0.88 ? 'SUCCESS' : chance < 0.97 ? 'FAILED' : unfinished
    const rupees = Math.floor(10 ** (1 + 4 * this.#random.at('amount', serial)))
    const paise =
      this.#random.at('is odd', serial) < 0.7
        ? 0
        : Math.floor(this.#random.at('paise', serial) * 100)
    const created_at = isoOf(at_ms)
    const day = Math.floor((at_ms - Date.UTC(2025, 0, 1)) / DAY_MS) + 1
    return {
      transaction_id: this.#id(receiver, 4 + 2 * (serial % 5)),
      id: this.#id(receiver, 5 + 2 * (serial % 5)),
      reference_id: `REF-${padded(serial, 9)}`,
      partner_transaction_id: `PTX${created_at.slice(0, 10).replaceAll('-', '')}${padded(serial, 9)}`,
      from_user_id: this.#id(payer, 0),
      to_user_id: this.#id(receiver, 0),
      benif_bank_id: this.#id(receiver, 3),
      amount: `${rupees}.${padded(paise, 2)}`,
      status,
      ...(status === 'SUCCESS' && { utr: `5${padded(day, 3)}${padded(serial, 8)}` }),
      remark: this.#pick(REMARKS, 'remark', serial),
      ...(status === 'FAILED' && { reason: this.#pick(FAILURE_REASONS, 'reason', serial) }),
      created_at,
      ...(chance < 0.97 && { updated_at: isoOf(at_ms + 3_000) }),
    }
  }

  #paymentRows(user: number) {
    if (this.#users < 2 || this.#accountOf(user)?.bank_status !== 'success') return []
    const count = Math.floor(this.#random.at('payments', user) * 5)
    const atOf = (i: number) => PAYMENTS + (user + i / count) * (SPAN_MS / this.#users)
    return Array.from({ length: count }, (_, i) => this.#paymentRow(user, ++this.#serial, atOf(i)))
  }

  readonly tables: Readonly<Record<string, (user: number) => object[]>> = {
    users: (user) => [this.#userRow(user)],
    kyc: (user) => [
      ...(this.#random.at('has pan', user) < 0.7 ? [this.#panRow(user)] : []),
      ...(this.#random.at('has aadhaar', user) < 0.5 ? [this.#aadhaarRow(user)] : []),
    ],
    bank_accounts: (user) => this.#accountRows(user),
    transactions: (user) => this.#paymentRows(user),
  }
}

const CHUNK = 65_536

/** Yields the text of a fixture file in chunks; it stores no rows. */
export function* fixtureText(users: number, seed: number): Generator<string> {
  let text = '{'
  let comma = ''
  for (const [table, rowsOf] of Object.entries(new GeneratedRows(users, seed).tables)) {
    text += `${comma}\n"${table}": [`
    comma = ''
    for (let user = 0; user < users; user++) {
      for (const row of rowsOf(user)) {
        text += `${comma}\n${JSON.stringify(row)}`
        comma = ','
      }
      if (text.length < CHUNK) continue
      yield text
      text = ''
    }
    text += '\n]'
    comma = ','
  }
  yield `${text}\n}\n`
}
