import * as z from 'zod'
import { adminCall, outlineOf } from '../../http/admin-call.ts'
import { Delivery, type DeliveryRow, DeliveryStatus, type EventRow } from '../../model/delivery.ts'
import { parseDuration } from '../../model/duration.ts'
import { SandboxError } from '../../model/errors.ts'
import { named } from '../../model/formats.ts'
import { KycRecord } from '../../model/kyc.ts'
import { LoggedRequest } from '../../model/logged-request.ts'
import { maskSecrets } from '../../model/mask.ts'
import { Transaction } from '../../model/transaction.ts'
import { didYouMean, quoteValue } from '../../model/words.ts'
import { failedTests, missText, type NearMiss, nearestOf } from '../../requests/near-miss.ts'
import { callsElsewhere, requestDetails } from '../../requests/request-log.ts'
import { invalidMatch, nearestRequests, nearestRequestText } from '../../requests/request-match.ts'
import type { Condition } from '../../scenarios/condition.ts'
import { loadReader } from '../../scenarios/library.ts'
import { passesAll, type Test, testsOf } from '../../scenarios/match.ts'
import { EVENTS } from '../../scenarios/operations-and-events.ts'
import type { CallMatch } from '../../scenarios/when-schema.ts'
import type { Sandbox } from '../../world/sandbox.ts'
import type { World } from '../../world/world.ts'
import { ADVANCE_ERRORS, AdvanceDuration } from './clock.ts'
import { readRequestMatch } from './requests.ts'
import {
  Advanced,
  advanceUntil,
  clockHint,
  movedHint,
  progressOf,
  type WaitTarget,
  waitFor,
} from './waiting.ts'
import { deliveryResponse } from './webhooks.ts'

const MAX_MS = 60_000

function firstOf<R, T>(rows: Iterable<R>, take: (row: R) => T | undefined): T | undefined {
  for (const row of rows) {
    const taken = take(row)
    if (taken !== undefined) return taken
  }
  return undefined
}

async function forRequest(
  world: World,
  value: unknown,
  { allRequests }: Sandbox,
): Promise<WaitTarget<LoggedRequest>> {
  const { requests } = world
  const match = await readRequestMatch(() => world.tables, value)
  return {
    noun: 'request',
    findExisting() {
      const call = requests.newestFirst().find(match.holds)
      return call && requestDetails(call)
    },
    onEvent: ({ kind, subject }) =>
      kind === 'request' && match.holds(subject) ? requestDetails(subject) : undefined,
    explain() {
      const misses = nearestRequests(match, requests.newestFirst())
      const nearest = nearestRequestText(misses, requests.count)
      return { misses, reason: nearest + callsElsewhere(allRequests, world.name) }
    },
  }
}

/** Compiles a match on the fields `known`. Returns no tests for an empty match, which matches every record. */
async function testsFor(value: object, known: readonly string[]): Promise<Test[]> {
  if (Object.keys(value).length === 0) return []
  const { readFields } = await loadReader()
  const unknown = Object.keys(value).filter((field) => !known.includes(field))
  if (unknown.length > 0)
    throw invalidMatch(
      unknown.map((path) => ({
        path,
        message: `there is no field ${quoteValue(path)}${didYouMean(path, known) || `; known fields: ${known.join(', ')}`}`,
      })),
    )
  const read = readFields(value)
  if (!read.ok) throw invalidMatch(read.problems)
  return testsOf('data', read.data as Condition)
}

const STATUSES = ['pending', 'success', 'failed']
const KNOWN_VALUES: Readonly<Record<string, readonly string[]>> = {
  transaction_status: [...STATUSES, 'processing'],
  kyc_status: [...STATUSES, 'verified'],
  bank_status: [...STATUSES, 'in_progress', 'rejected'],
  status: DeliveryStatus.options,
  event: EVENTS,
}

/** A hint if a test requires a value that the field never has, such as SUCCESS. */
function unknownValueHint(tests: readonly Test[]): string {
  for (const { operator, path, argument } of tests) {
    const [field = ''] = path
    const known = path.length === 1 && operator === 'eq' ? KNOWN_VALUES[field] : undefined
    if (!known || typeof argument !== 'string' || known.includes(argument)) continue
    const suggestion = known.find((word) => word === argument.toLowerCase())
    const advice = suggestion ? `write "${suggestion}"` : `use one of ${known.join(', ')}`
    return ` ${field} is never ${JSON.stringify(maskSecrets(argument.slice(0, 100)))}: ${advice}.`
  }
  return ''
}

// Only the newest records are compared: a test has just created them.
const MAX_COMPARED = 500

function nearestRecords<T extends object>(
  records: Iterable<T>,
  tests: readonly Test[],
  describe: (record: T) => string,
): NearMiss[] {
  const fieldOf = ({ path }: Test) => path.join('.')
  return nearestOf(records, {
    failuresOf: (data) => failedTests(tests, { data }, fieldOf),
    describe,
  })
}

/** Returns the text that a field must be equal to; `undefined` if the match does not require one text. */
const exactText = (tests: readonly Test[], field: string): string | undefined => {
  const found = tests.find(
    ({ path, operator, argument }) =>
      operator === 'eq' && path.length === 1 && path[0] === field && typeof argument === 'string',
  )
  return found && (found.argument as string)
}

const NO_WEBHOOK =
  ' This client has no webhook, so nothing is sent: create one with POST /v1/clientWebhook.'
const DELIVERY_FIELDS = [...Object.keys(Delivery.shape), 'body']

async function forDelivery(world: World, value: object): Promise<WaitTarget<Delivery>> {
  const { deliveries } = world.webhooks
  const tests = await testsFor(value, DELIVERY_FIELDS)
  const wantsBody = tests.some(({ path }) => path[0] === 'body')
  const take = (row: DeliveryRow) => {
    const data = deliveryResponse(world, row)
    // The event of an old delivery may have been deleted.
    const event: EventRow | undefined = wantsBody ? deliveries.eventOf(row) : undefined
    const body = event && { body: event.body }
    return passesAll(tests, { data: { ...data, ...body } }) ? data : undefined
  }
  return {
    noun: 'delivery',
    findExisting: () => firstOf([...deliveries.all()].reverse(), take),
    onEvent: ({ kind, subject }) => (kind === 'delivery' ? take(subject) : undefined),
    explain() {
      const newest = [...deliveries.all()].slice(-MAX_COMPARED).reverse()
      const misses = nearestRecords(
        newest.map((row) => deliveryResponse(world, row)),
        tests.filter(({ path }) => path[0] !== 'body'),
        ({ delivery_id }) => `delivery ${delivery_id}`,
      )
      const reason = unknownValueHint(tests) + missText(misses, ' No delivery exists yet.')
      return { misses, reason: world.webhooks.current() ? reason : reason + NO_WEBHOOK }
    },
  }
}

type Resource = Record<string, unknown>

const RESOURCE_FIELDS = {
  transaction: Object.keys(Transaction.shape),
  kyc: Object.keys(KycRecord.shape),
}

async function forResource(
  world: World,
  what: keyof typeof RESOURCE_FIELDS,
  value: object,
): Promise<WaitTarget<Resource>> {
  const { payments, kyc } = world.tables.tables
  const tests = await testsFor(value, RESOURCE_FIELDS[what])
  const ifMatching = (data: Resource | undefined) =>
    data && passesAll(tests, { data }) ? data : undefined
  const { views } = world.payouts
  const shown = <E>(entry: E | undefined, view: (entry: E) => Resource) => entry && view(entry)
  const viewOf = (id: string) =>
    what === 'kyc' ? shown(kyc.entry(id), views.kyc) : shown(payments.entry(id), views.transaction)
  const id = exactText(tests, what === 'kyc' ? 'kyc_id' : 'transaction_id')
  const user = what === 'kyc' ? exactText(tests, 'user_id') : undefined
  const [index, key] = user === undefined ? ['all', 'all'] : ['user', user]
  const table = what === 'kyc' ? kyc : payments
  /** The records to compare with the match, newest first. */
  function* records(max: number): Generator<Resource> {
    for (const entry of id === undefined ? table.page(index, key, 0, max) : [{ id }]) {
      const data = viewOf(entry.id)
      if (data) yield data
    }
  }
  const noun = what === 'kyc' ? 'KYC record' : 'transaction'
  return {
    noun,
    findExisting: () => firstOf(records(Number.POSITIVE_INFINITY), ifMatching),
    onEvent: ({ kind, subject }) =>
      kind === 'change' && subject.type.startsWith(`${what}.`)
        ? ifMatching(viewOf(subject.resource_id))
        : undefined,
    explain() {
      const nameOf = (data: Resource) => `${noun} ${data[`${what}_id`]}`
      const misses = nearestRecords(records(MAX_COMPARED), tests, nameOf)
      const nearest = missText(misses, ` No such ${noun} exists yet.`)
      return { misses, reason: unknownValueHint(tests) + nearest }
    },
  }
}

type ResourceField =
  | keyof typeof Transaction.shape
  | keyof typeof KycRecord.shape
  | keyof typeof Delivery.shape
  | 'body'
type Matches = z.ZodType<
  z.output<typeof CallMatch> | { [Field in ResourceField]?: Condition },
  z.input<typeof CallMatch> | { [Field in ResourceField]?: Condition }
>

/** The call that waits until something happens, so that a test does not need to sleep. */
export const waitCalls = [
  adminCall({
    id: 'wait',
    summary:
      'Wait for a matching request, delivery, transaction or KYC record; 408 after the timeout',
    body: z.strictObject({
      for: z.enum(['request', 'delivery', 'transaction', 'kyc']),
      match: outlineOf<Matches>(z.looseObject({})).default({}),
      advance: AdvanceDuration.optional().describe(
        'Moves a frozen clock on meanwhile, from timer to timer, by at most this duration.',
      ),
      timeout_ms: z.int().min(0).max(MAX_MS).default(10_000),
    }),
    response: named('WaitedResponse', {
      for: z.string(),
      request: LoggedRequest.optional(),
      delivery: Delivery.optional(),
      transaction: z.looseObject({}).optional(),
      kyc: z.looseObject({}).optional(),
      advanced: Advanced.optional(),
    }),
    errors: ['wait_timeout', 'not_ready', 'clock_running', ...ADVANCE_ERRORS],
    async handle(world, { body, hangUpSignal }, sandbox) {
      const { for: what, match, timeout_ms: timeoutMs, advance } = body
      const signal = hangUpSignal()
      const { later } = sandbox.runtime
      if (advance !== undefined && world.clock.state.mode !== 'frozen')
        throw new SandboxError(
          'clock_running',
          'The clock is running, so a wait cannot advance it. Freeze it with POST /__admin/clock/freeze, or leave out `advance`.',
        )
      async function found<T>(target: Promise<WaitTarget<T>>) {
        const progress =
          advance === undefined ? undefined : progressOf(world, parseDuration(advance)!)
        const hint = () => (progress ? movedHint(world, progress) : clockHint(world))
        const waiting = waitFor(await target, world, { later, timeoutMs, signal, hint })
        if (!progress) return { for: what, [what]: await waiting }
        const moving = advanceUntil(waiting, world, progress, { signal, later })
        const [item, advanced] = await Promise.all([waiting, moving])
        return { for: what, [what]: item, advanced }
      }
      if (what === 'request') return found(forRequest(world, match, sandbox))
      if (what === 'delivery') return found(forDelivery(world, match))
      return found(forResource(world, what, match))
    },
  }),
]
