import { type Assumption, PAGED_LISTS } from '../../assumptions/assumption.ts'
import { ASSUMPTIONS } from '../../assumptions/readings.ts'
import {
  COVERAGE_GROUPS,
  type Coverage,
  type CoverageGroup,
  type CoverageItem,
} from '../../model/coverage.ts'
import type { ErrorCode } from '../../model/errors.ts'
import { type LifecycleKind, nextStatuses } from '../../model/payment.ts'
import { OPERATIONS } from '../../routes/v1/operations.ts'
import { EVENTS } from '../../scenarios/operations-and-events.ts'
import { NOT_MEASURABLE } from '../conform/measuring.ts'
import { factOf, isLifecycle, MET, RESOURCES } from './collector.ts'

/** What can be met: an item without the answer. */
type Item = Omit<CoverageItem, 'met'> & { met?: boolean }

const itemsOf = (subject: string, shown: Readonly<Record<string, string>>): Item[] =>
  Object.entries(shown).map(([behaviour, shown_by]) => ({ subject, behaviour, shown_by }))

/** The error codes that the contract and the scenarios permit. The others come from broken HTTP, a full disk or a foreign web site. */
export const CODES_SHOWN: Partial<Record<ErrorCode, string>> = {
  validation_failed: 'a malformed field, id or page',
  unauthorized: 'an access token that is unknown',
  client_inactive: 'the access token sbx_inactive_token',
  rate_limited: 'the scenario rate-limited',
  not_found: 'an id that does not exist; for a list page_past_the_end=not_found',
  duplicate_reference: 'a used reference_id, with reference_id=unique',
  same_user: 'one user as payer and receiver',
  bank_user_mismatch: 'an account of another user',
  bank_not_verified: 'the account 999900000006 at once, with unverified_account=refused',
  kyc_required: 'a payer without KYC, with the access token sbx_kyc_token',
  user_exists: 'a used e-mail, with duplicate_user=conflict',
  bank_account_exists: 'the same account again, with same_bank_account=conflict',
  webhook_exists: 'a second webhook, with second_webhook=conflict',
  idempotency_in_flight: 'two calls at once with one key, with idempotency_key=honoured',
  idempotency_mismatch: 'a used key with another body, with idempotency_key=honoured',
  service_unavailable: 'the scenario provider-outage',
  injected_error: 'a rule with respond: { status: 500 }',
  bad_gateway: 'a rule with respond: { status: 502 }',
  gateway_timeout: 'a rule with respond: { status: 504 }',
}

// Calls without an id or a field cannot give each code of all calls.
const NEVER: Partial<Record<ErrorCode, readonly string[]>> = {
  not_found: ['createUser', 'createWebhook', 'getClientProfile'],
  validation_failed: ['getClientProfile', 'getWebhook'],
}

function callItems({ id, method, url, errors }: (typeof OPERATIONS)[number]): Item[] {
  const codes = errors.filter((code) => CODES_SHOWN[code] && !NEVER[code]?.includes(id))
  return itemsOf(id, {
    [MET.success]: `${method} /v1${url}`,
    ...Object.fromEntries(codes.map((code) => [code, CODES_SHOWN[code]!])),
    [MET.silent]: 'a rule with fault: hang',
    [MET.lost]:
      id === 'createTransaction' ? 'the scenario lost-responses' : 'a rule with fault: reset',
    [MET.broken]: 'a rule with fault: truncate',
  })
}

const AT_ONCE = 'read at once, and again after 5 s'
const STATUSES_SHOWN: Readonly<Record<LifecycleKind, Readonly<Record<string, string>>>> = {
  transaction: {
    PENDING: 'POST /v1/transaction',
    PROCESSING: 'the history 1 s after the payment, or transaction.processing',
    SUCCESS: 'the payment after 5 s',
    FAILED: 'the amount 100.93, after 5 s',
    'PENDING to PROCESSING': 'the payment at once, the history 1 s later',
    'PENDING to SUCCESS': `the payment: ${AT_ONCE}`,
    'PENDING to FAILED': `the amount 100.93: ${AT_ONCE}`,
    'PROCESSING to SUCCESS': 'the history 1 s and 5 s after the payment',
    'PROCESSING to FAILED': 'the amount 100.93: the history after 1 s and 5 s',
    'SUCCESS to FAILED': 'the amount 100.96 after 3 s and 10 s, or the scenario late-reversals',
    'FAILED to SUCCESS': 'a rule with the steps FAILED and SUCCESS',
  },
  kyc: {
    pending: 'the Aadhaar 999999990019',
    success: 'the PAN XXXPX1234A',
    failed: 'the PAN XXXPX0003A',
    'pending to success': `the Aadhaar 999999990019: ${AT_ONCE}`,
    'pending to failed': `the Aadhaar 999999990026: ${AT_ONCE}`,
    'failed to success': 'a rule with the steps failed and success',
  },
  bank: {
    pending: 'the account 999900000006',
    success: 'the account 999900000101',
    failed: 'the account 999900000001',
    'pending to success': `the account 999900000006: ${AT_ONCE}`,
    'pending to failed': `the account 999900000007: ${AT_ONCE}`,
  },
}

const statusItems = (kind: LifecycleKind): Item[] =>
  itemsOf(RESOURCES[kind].noun, STATUSES_SHOWN[kind])

/** What can happen to an event. One that another event of its resource can follow may arrive after that one. */
function eventItems(event: string): Item[] {
  const [kind, word] = event.split('.') as [string, string]
  if (kind === 'webhook')
    return itemsOf(event, { [MET.accepted]: `POST /__admin/webhooks/trigger {"event":"${event}"}` })
  const status = kind === 'transaction' ? word.toUpperCase() : word
  const isFollowed = isLifecycle(kind) && nextStatuses(kind, status, true).length > 0
  const rule = `a webhook rule with hold_until: ${kind}.failed`
  return itemsOf(event, {
    [MET.accepted]: 'a webhook whose receiver responds with 2xx',
    [MET.repeated]: 'the scenario webhook-duplicates',
    [MET.late]: 'a webhook rule with delay: 5s',
    ...(isFollowed && {
      [MET.disorder]: word === 'pending' ? 'the scenario webhook-disorder' : rule,
    }),
  })
}

const PAGES_SHOWN = '?page=2 and on, with largest_page=1'
const PAGES = { [MET.nextPage]: PAGES_SHOWN, [MET.lastPage]: PAGES_SHOWN }

export const absorbableReadings = ({ readings, form }: Assumption): string[] => [
  ...Object.keys(readings).filter((word) => !readings[word]!.notAbsorbable),
  ...(form && !form.notAbsorbable ? [form.example] : []),
]

/** The assumptions that the calls and events concern; one is met if a sweep has tried each other reading of it that it can. */
function readingItems(seen: ReadonlySet<string>, tried: ReadonlySet<string>): Item[] {
  const beginOf = (concern: string) =>
    concern === 'all calls' ? 'calls ' : concern === 'webhooks' ? 'webhooks ' : `calls ${concern}:`
  const isMet = (concern: string) => [...seen].some((fact) => fact.startsWith(beginOf(concern)))
  return ASSUMPTIONS.filter(({ concerns }) => concerns.some(isMet)).map((one) => {
    const { name, basis } = one
    const all = absorbableReadings(one)
    const untried = all.filter((reading) => !tried.has(`${name}=${reading}`))
    const measurable = NOT_MEASURABLE[name] === undefined
    const sweep = all.length > 1 ? 'payout-sandbox sweep --only assumption' : 'the provider'
    return {
      subject: name,
      behaviour: `default: ${basis}${measurable ? '' : ', not measurable'}`,
      // The runs without a fault have one of them.
      met: all.length > 1 && untried.length <= 1,
      shown_by: `${sweep}${measurable ? ', or payout-sandbox conform' : ''}`,
      basis,
      measurable,
    }
  })
}

/** Says which behaviours were met; `tried` has the readings of the runs of a sweep, such as `list_order=oldest_first`. */
export function coverageOf(
  seen: ReadonlySet<string>,
  tried: ReadonlySet<string> = new Set(),
): Coverage {
  const items: Record<CoverageGroup, Item[]> = {
    calls: OPERATIONS.flatMap(callItems),
    money: statusItems('transaction'),
    kyc: statusItems('kyc'),
    accounts: statusItems('bank'),
    webhooks: EVENTS.flatMap(eventItems),
    lists: PAGED_LISTS.flatMap((list) => itemsOf(list, PAGES)),
    readings: readingItems(seen, tried),
  }
  return {
    groups: COVERAGE_GROUPS.map((group) => {
      const all = items[group].map((one) => ({
        ...one,
        met: one.met ?? seen.has(factOf(group, one.subject, one.behaviour)),
      }))
      const met = all.filter((one) => one.met).length
      const percent = all.length === 0 ? 0 : Math.floor((100 * met) / all.length)
      return { group, met, total: all.length, percent, items: all }
    }),
  }
}
