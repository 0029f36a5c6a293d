// The trouble that one click makes. What is a fault of the one list comes from there.
import { ENDPOINT_OF, type OperationId } from '../../../scenarios/operations-and-events.ts'
import { CALL_FAULTS, LIFECYCLE_FAULTS, WEBHOOK_FAULTS } from '../../faults.ts'

/** The words of a path: `!` begins what fails, `<` what comes back, `…` what is to come; `~` is a leap of time, `|` an end, `''` nothing. */
export type Lane = readonly string[]

/** One kind of trouble: what it does in words and as a drawing, and how it is armed. */
export type Trouble = {
  title: string
  text: string
  lanes: readonly Lane[]
  label: string
  options: readonly (readonly [value: string, text: string])[]
  waits: (option: string) => string
  hit: string
} & (
  | { rule: (option: string) => object }
  // Webhook rules are part of a scenario: they extend the active one.
  | { webhooks: (option: string) => object[] }
)

const OPERATIONS = (
  ['createTransaction', 'createUser', 'submitKyc', 'addBankAccount'] as const
).map((id) => [id, ENDPOINT_OF[id]] as const)
export const nextOf = (option: string) =>
  `your next ${ENDPOINT_OF[option as OperationId] ?? option}`
const PENDING = { status: 'PENDING' }
const PROCESSING = { status: 'PROCESSING', after: '1s' }
const payment = (...steps: object[]) => ({ transaction: [PENDING, ...steps] })
/** Not the calls of a timeline, which would use it up. */
const called = (operation: string, more: object = {}) => ({
  operation,
  ...more,
  headers: { 'user-agent': { ne: 'payout-sandbox' } },
})
const once = (operation: string, then: object, times = 1) => ({
  when: called(operation),
  times,
  then,
})
const OF_A_CALL = { label: 'Your next call of', options: OPERATIONS, waits: nextOf }
const nextPayment = () => 'your next POST /transaction'

export const TROUBLES: readonly Trouble[] = [
  {
    title: 'Bank outage',
    text: 'Payments fail with “bank is offline” until it ends.',
    lanes: [['PENDING', '!FAILED', '|', 'SUCCESS']],
    label: 'How long',
    options: Object.entries({ '30m': 'for 30 min', '2h': 'for 2 h' }),
    waits: () => 'each POST /transaction while it lasts',
    hit: 'The payment fails: the bank is offline.',
    rule: (option) => ({
      when: { operation: 'createTransaction' },
      for: option,
      then: LIFECYCLE_FAULTS.payment_failed.then({}),
    }),
  },
  {
    title: 'Lose the next response',
    text: 'The call is carried out, but the connection ends without a response.',
    lanes: [
      ['POST', '!no response'],
      ['', 'PENDING', 'SUCCESS'],
    ],
    ...OF_A_CALL,
    hit: 'It was carried out, and its caller got no response.',
    rule: (operation) => once(operation, CALL_FAULTS.reset_after.then()),
  },
  {
    title: '504 although paid',
    text: 'The gateway gives up; the money moves.',
    lanes: [
      ['POST', '!504'],
      ['', 'PENDING', 'SUCCESS'],
    ],
    ...OF_A_CALL,
    hit: 'It went through, but its caller got a 504.',
    rule: (operation) => once(operation, CALL_FAULTS.respond_504_after.then()),
  },
  {
    title: 'Event before the response',
    text: 'The call is carried out and its event goes out; the response comes five seconds later.',
    lanes: [
      ['POST', '', '', '200'],
      ['', 'PENDING', 'event'],
    ],
    label: 'Your next call of',
    options: OPERATIONS.filter(([id]) => id !== 'createUser'),
    waits: nextOf,
    hit: 'Your webhook got the event before its caller got the response.',
    rule: (operation) => ({
      when: called(operation),
      times: 1,
      then: CALL_FAULTS.late_response.then({}),
    }),
  },
  {
    title: 'Payment stuck',
    text: 'It never leaves PROCESSING. Nothing tells your code.',
    lanes: [['PENDING', 'PROCESSING', '…for ever']],
    label: 'Which payments',
    options: Object.entries({ '1': 'the next payment', '100': 'the next 100 payments' }),
    waits: nextPayment,
    hit: 'The payment stays in PROCESSING.',
    rule: (times) => once('createTransaction', payment(PROCESSING), Number(times)),
  },
  {
    title: 'Payment comes back',
    text: 'It succeeds; later the bank sends it back.',
    lanes: [['PENDING', 'SUCCESS', '~', '<FAILED']],
    label: 'When',
    // A jump of a day or an hour brings it back.
    options: Object.entries({ '23h': 'tomorrow', '50m': 'within 1 h' }),
    waits: nextPayment,
    hit: 'The payment succeeds, and comes back later.',
    rule: (after) => {
      const failed = { status: 'FAILED', after, reason: 'beneficiary_bank_rejected' }
      const steps = payment(PROCESSING, { status: 'SUCCESS', after: '2s' }, failed)
      return once('createTransaction', steps)
    },
  },
  {
    title: 'Events twice, at once or out of order',
    text: 'Your webhook gets copies, two events at the same instant, or the success before the processing. It extends the active scenario, which restarts.',
    lanes: [['PENDING', 'SUCCESS', 'SUCCESS', 'PROCESSING']],
    label: 'How',
    options: Object.entries({ twice: 'twice', together: 'at once', order: 'out of order' }),
    waits: () => 'the next events',
    hit: 'Your webhook got them that way.',
    webhooks: (option) => {
      const { copies, together, hold_until } = WEBHOOK_FAULTS
      if (option === 'twice') return [{ when: { event: '*' }, then: copies.then() }]
      const then = option === 'together' ? together.then() : hold_until.then('transaction.success')
      return [{ when: { event: 'transaction.processing' }, then }]
    },
  },
]

export const KYC: Trouble = {
  title: 'KYC fails for this person',
  text: 'Their next check fails. An earlier one that passed still counts.',
  lanes: [['pending', '!failed']],
  label: 'Who',
  options: [],
  waits: () => 'their next POST /kyc',
  hit: 'The check failed.',
  rule: (user_id) => ({
    when: called('submitKyc', { body: { user_id } }),
    times: 1,
    then: LIFECYCLE_FAULTS.kyc_failed.then(),
  }),
}

export const ALL: readonly Trouble[] = [...TROUBLES, KYC]
