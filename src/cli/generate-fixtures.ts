import { en, en_IN, Faker } from '@faker-js/faker'
import { isAadhaar } from '../model/aadhaar.ts'
import { FAILURE_REASONS } from '../model/payment.ts'
import { createRandom } from '../runtime/random.ts'

const DAY_MS = 86_400_000
// Users sign up in 2024 and payments are made in 2025, both before the start time of a frozen clock.
const SIGN_UPS = Date.parse('2024-01-01T04:00:00Z')
const PAYMENTS = Date.parse('2025-01-01T04:00:00Z')
const SPAN_MS = 360 * DAY_MS
const CHUNK = 65_536
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
    message: 'Name does not match the PAN record',
    statusCode: 200,
    panStatus: 'EXISTING AND VALID',
    name: 'NOT MATCHING',
    dateOfBirth: 'MATCHING',
    aadhaarSeedingStatus: 'Y',
  },
  {
    message: 'PAN not found',
    statusCode: 404,
    panStatus: 'Record (PAN) Not Found in ITD Database/Invalid PAN',
    name: 'NOT MATCHING',
    dateOfBirth: 'NOT MATCHING',
    aadhaarSeedingStatus: 'NA',
  },
]
const PAN_FOUND = {
  panStatus: 'EXISTING AND VALID',
  name: 'MATCHING',
  dateOfBirth: 'MATCHING',
  aadhaarSeedingStatus: 'Y',
}

const iso = (ms: number) => new Date(ms).toISOString()
const padded = (n: number, length: number) => String(n).padStart(length, '0')

/** Draws for each user; a draw depends only on the seed and its arguments. */
function createDraws(users: number, seed: number) {
  const draw = { counter: 0 }
  const random = createRandom(seed, draw)
  const faker = new Faker({
    locale: [en_IN, en],
    randomizer: { next: random.fraction, seed: () => {} },
  })
  const { at } = random
  const isBusiness = (user: number) => at('business', user) < 0.15
  return {
    users,
    at,
    pick: <T>(list: readonly T[], label: string, n: number) =>
      list[Math.floor(at(label, n) * list.length)]!,
    id(user: number, which: number) {
      draw.counter = FIRST_DRAW + user * DRAWS_PER_USER + which
      return random.uuid()
    },
    isBusiness,
    /** When a user signed up, ms. */
    signedUp: (user: number) => SIGN_UPS + (user + at('signed up', user)) * (SPAN_MS / users),
    name(user: number): string {
      draw.counter = FIRST_DRAW + user * DRAWS_PER_USER + NAME_DRAW
      const last = faker.person.lastName()
      return isBusiness(user)
        ? `${last} ${faker.helpers.arrayElement(TRADES)}`
        : `${faker.person.firstName()} ${last}`
    },
  }
}

type Draws = ReturnType<typeof createDraws>

function accountOf({ at, id }: Draws, user: number) {
  if (at('account', user) >= 0.8) return undefined
  const chance = at('account status', user)
  const bank_status = chance < 0.9 ? 'success' : chance < 0.95 ? 'pending' : 'failed'
  return { bank_id: id(user, 3), bank_status }
}

function dobOf({ at, isBusiness }: Draws, user: number): string {
  const [from, to] = isBusiness(user) ? [2000, 2020] : [1955, 2004]
  return iso(Date.UTC(from, 0, 1) + at('born', user) * (to - from) * 365 * DAY_MS).slice(0, 10)
}

const statusOf = (chance: number) =>
  chance < 0.85 ? 'success' : chance < 0.95 ? 'failed' : 'pending'

/** An invalid Aadhaar number: the last digit is never the check digit. */
function aadhaarOf({ at }: Draws, user: number): string {
  const body = `9999999${padded(Math.floor(at('aadhaar', user) * 9_000), 4)}`
  const last = Math.floor(at('check digit', user) * 10)
  return isAadhaar(body + last) ? `${body}${(last + 1) % 10}` : `${body}${last}`
}

function panRow(draws: Draws, user: number) {
  const { at, id, name, pick, signedUp } = draws
  const kyc_status = statusOf(at('pan status', user))
  const { message, statusCode, ...result } = pick(PAN_FAILURES, 'pan fault', user)
  return {
    kyc_id: id(user, 1),
    user_id: id(user, 0),
    document_type: 'tid',
    document_name: 'pan',
    document_number: `XXXPX${2_000 + Math.floor(at('pan', user) * 8_000)}A`,
    full_name: name(user),
    dob: dobOf(draws, user),
    kyc_status,
    verified_by: 'system',
    ...(kyc_status === 'success' && { statusCode: 200, result: PAN_FOUND }),
    ...(kyc_status === 'failed' && { message, statusCode, result }),
    ...(kyc_status === 'pending' && { message: 'PAN source is not available', statusCode: 503 }),
    created_at: iso(signedUp(user) + 240_000),
  }
}

function aadhaarRow(draws: Draws, user: number) {
  const { at, id, name, signedUp } = draws
  const created = signedUp(user) + 240_000
  const kyc_status = statusOf(at('aadhaar status', user))
  return {
    kyc_id: id(user, 2),
    user_id: id(user, 0),
    document_type: 'pid',
    document_name: 'aadhar',
    document_number: aadhaarOf(draws, user),
    full_name: name(user),
    dob: dobOf(draws, user),
    kyc_status,
    verified_by: 'client',
    created_at: iso(created),
    ...(kyc_status !== 'pending' && { updated_at: iso(created + 5_000) }),
  }
}

function userRow(draws: Draws, user: number) {
  const { at, id, isBusiness, signedUp } = draws
  const mailbox = draws
    .name(user)
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '.')
  return {
    user_id: id(user, 0),
    ...(isBusiness(user) && { user_type: 'business' }),
    email: `${mailbox}.${user + 1}@example.${at('mail', user) < 0.5 ? 'com' : 'org'}`,
    mobile: `+919${padded(user + 1, 9)}`,
    created_at: iso(signedUp(user)),
  }
}

function accountRows(draws: Draws, user: number) {
  const { at, id, name, pick, signedUp } = draws
  const account = accountOf(draws, user)
  if (!account) return []
  const branch = padded(Math.floor(at('branch', user) * 1_000), 6)
  return [
    {
      bank_id: account.bank_id,
      user_id: id(user, 0),
      account_number: `99995${padded(user + 1, 9)}`,
      ifsc_code: `${pick(BANKS, 'bank', user)}0${branch}`,
      bank_status: account.bank_status,
      account_holder_name: name(user).toUpperCase(),
      created_at: iso(signedUp(user) + 600_000),
    },
  ]
}

function paymentRow(draws: Draws, receiver: number, serial: number, at_ms: number) {
  const { users, at, id, pick } = draws
  const other = Math.floor(at('payer', serial) * (users - 1))
  const payer = other >= receiver ? other + 1 : other
  const chance = at('payment status', serial)
  const status =
    chance < 0.88 ? 'SUCCESS' : chance < 0.97 ? 'FAILED' : chance < 0.985 ? 'PROCESSING' : 'PENDING'
  const rupees = Math.floor(10 ** (1 + 4 * at('amount', serial)))
  const paise = at('is odd', serial) < 0.7 ? 0 : Math.floor(at('paise', serial) * 100)
  const created_at = iso(at_ms)
  const day = Math.floor((at_ms - Date.UTC(2025, 0, 1)) / DAY_MS) + 1
  return {
    transaction_id: id(receiver, 4 + 2 * (serial % 5)),
    id: id(receiver, 5 + 2 * (serial % 5)),
    reference_id: `REF-${padded(serial, 9)}`,
    partner_transaction_id: `PTX${created_at.slice(0, 10).replaceAll('-', '')}${padded(serial, 9)}`,
    from_user_id: id(payer, 0),
    to_user_id: id(receiver, 0),
    benif_bank_id: id(receiver, 3),
    amount: `${rupees}.${padded(paise, 2)}`,
    status,
    ...(status === 'SUCCESS' && { utr: `5${padded(day, 3)}${padded(serial, 8)}` }),
    remark: pick(REMARKS, 'remark', serial),
    ...(status === 'FAILED' && { reason: pick(FAILURE_REASONS, 'reason', serial) }),
    created_at,
    ...(chance < 0.97 && { updated_at: iso(at_ms + 3_000) }),
  }
}

/** Functions that return the rows of each user, by table. */
function createRows(users: number, seed: number) {
  const draws = createDraws(users, seed)
  const { at } = draws
  let serial = 0
  return {
    users: (user: number): object[] => [userRow(draws, user)],
    kyc: (user: number): object[] => [
      ...(at('has pan', user) < 0.7 ? [panRow(draws, user)] : []),
      ...(at('has aadhaar', user) < 0.5 ? [aadhaarRow(draws, user)] : []),
    ],
    bank_accounts: (user: number): object[] => accountRows(draws, user),
    transactions(user: number): object[] {
      if (users < 2 || accountOf(draws, user)?.bank_status !== 'success') return []
      const count = Math.floor(at('payments', user) * 5)
      return Array.from({ length: count }, (_, i) =>
        paymentRow(draws, user, ++serial, PAYMENTS + (user + i / count) * (SPAN_MS / users)),
      )
    },
  }
}

/**
 * Yields the text of a fixture file with this number of users in chunks. It makes one pass over the users per table and
 * stores no rows. Calls `step` once per user and table.
 */
export function* fixtureText(users: number, seed: number, step: () => void): Generator<string> {
  let text = '{'
  let comma = ''
  for (const [table, rowsOf] of Object.entries(createRows(users, seed))) {
    text += `${comma}\n"${table}": [`
    comma = ''
    for (let user = 0; user < users; user++) {
      for (const row of rowsOf(user)) {
        text += `${comma}\n${JSON.stringify(row)}`
        comma = ','
      }
      step()
      if (text.length < CHUNK) continue
      yield text
      text = ''
    }
    text += '\n]'
    comma = ','
  }
  yield `${text}\n}\n`
}

/** How often `fixtureText` calls `step`. */
export const stepCount = (users: number): number => 4 * users
