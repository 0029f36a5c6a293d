import * as z from 'zod'
import { adminCall, outlineOf } from '../../http/admin.ts'
import { didYouMean } from '../../model/closest-word.ts'
import { Delivery, type DeliveryRow, type EventRow } from '../../model/delivery.ts'
import { KycRecord } from '../../model/kyc.ts'
import { LoggedRequest } from '../../model/logged-request.ts'
import { Transaction } from '../../model/transaction.ts'
import type { Condition } from '../../scenarios/condition.ts'
import type { CallMatch } from '../../scenarios/condition-schema.ts'
import { predicateOf, type Test, testsOf } from '../../scenarios/match.ts'
import { loadReader } from '../../scenarios/reader.ts'
import { quoteValue } from '../../scenarios/wording.ts'
import { missText } from '../../services/near-miss.ts'
import { requestDetails } from '../../services/request-log.ts'
import { invalidMatch, nearestRequests, nearestRequestText } from '../../services/request-match.ts'
import { firstOf, type WaitTarget, waitFor } from '../../services/waiting.ts'
import type { World } from '../../world.ts'
import { matchOf } from './requests.ts'
import { clockReason, lateFor, nearestRecords, newest, spellingReason } from './wait-reasons.ts'
import { shown as shownDelivery } from './webhooks.ts'

const MAX_MS = 60_000

type Wait<T> = Omit<WaitTarget<T>, 'timeout_ms' | 'signal'>

async function forRequest(world: World, value: unknown, timeoutMs: number) {
  const { requests } = world
  const match = await matchOf(world, value)
  const wait: Wait<LoggedRequest> = {
    findExisting() {
      for (const call of requests.newestFirst()) if (match.holds(call)) return requestDetails(call)
      return undefined
    },
    onEvent: ({ kind, subject }) =>
      kind === 'request' && match.holds(subject) ? requestDetails(subject) : undefined,
    timeoutError() {
      const misses = nearestRequests(match, requests.newestFirst())
      const reasons = [nearestRequestText(misses, requests.count), clockReason(world)]
      return lateFor('request', timeoutMs, reasons, misses)
    },
  }
  return wait
}

/** The tests of a match of fields, of which there are only `known` ones; none of an empty match, which all meet. */
async function testsFor(value: object, known: readonly string[]): Promise<Test[]> {
  if (Object.keys(value).length === 0) return []
  const { readFields } = await loadReader()
  const bad = Object.keys(value).filter((field) => !known.includes(field))
  if (bad.length > 0)
    throw invalidMatch(
      bad.map((path) => ({
        path,
        message: `there is no field ${quoteValue(path)}${didYouMean(path, known) || `; there are ${known.join(', ')}`}`,
      })),
    )
  const read = readFields(value)
  if (!read.ok) throw invalidMatch(read.problems)
  return testsOf('data', read.match as Condition)
}

/** The text that a field must be, where the match says so plainly. */
const plainly = (tests: readonly Test[], field: string): string | undefined => {
  const found = tests.find(
    ({ path, operator, argument }) =>
      operator === 'eq' && path.length === 1 && path[0] === field && typeof argument === 'string',
  )
  return found && (found.argument as string)
}

const NO_WEBHOOK =
  ' This client has no webhook, so nothing is sent: create one with POST /v1/clientWebhook.'
const DELIVERY_FIELDS = [...Object.keys(Delivery.shape), 'body']

async function forDelivery(world: World, value: object, timeoutMs: number) {
  const { deliveries } = world
  const tests = await testsFor(value, DELIVERY_FIELDS)
  const fits = predicateOf(tests)
  const wantsBody = tests.some(({ path }) => path[0] === 'body')
  const take = (row: DeliveryRow) => {
    const data = shownDelivery(row)
    // The event of an old delivery may be gone.
    const event: EventRow | undefined = wantsBody ? deliveries.eventOf(row) : undefined
    const body = event && { body: event.body }
    return fits({ data: { ...data, ...body } }) ? data : undefined
  }
  const wait: Wait<Delivery> = {
    findExisting: () =>
      firstOf([...deliveries.all()].reverse(), take, world.outside.yieldsToOthers),
    onEvent: ({ kind, subject }) => (kind === 'delivery' ? take(subject) : undefined),
    timeoutError() {
      const records = newest([...deliveries.all()]).map(shownDelivery)
      const ofRecord = tests.filter(({ path }) => path[0] !== 'body')
      const misses = nearestRecords(
        records,
        ofRecord,
        ({ delivery_id }) => `delivery ${delivery_id}`,
      )
      const reasons = [
        spellingReason(tests),
        missText(misses, ' There is no delivery yet.'),
        world.webhooks.current() ? '' : NO_WEBHOOK,
        clockReason(world),
      ]
      return lateFor('delivery', timeoutMs, reasons, misses)
    },
  }
  return wait
}

type Resource = Record<string, unknown>

/** Rows newest first, a page at a time: what comes meanwhile moves them back, so none is missed. */
function* newestFirst<E>(page: (offset: number, limit: number) => readonly E[]): Generator<E> {
  const size = 500
  for (let offset = 0; ; offset += size) {
    const entries = page(offset, size)
    yield* entries
    if (entries.length < size) return
  }
}

const RESOURCE_FIELDS = {
  transaction: Object.keys(Transaction.shape),
  kyc: Object.keys(KycRecord.shape),
}

async function forResource(
  world: World,
  what: keyof typeof RESOURCE_FIELDS,
  value: object,
  timeoutMs: number,
) {
  const { payments, kyc } = world.tables.tables
  const tests = await testsFor(value, RESOURCE_FIELDS[what])
  const fits = predicateOf(tests)
  const fitting = (text: string | undefined): Resource | undefined => {
    if (text === undefined) return undefined
    const data = JSON.parse(text) as Resource
    return fits({ data }) ? data : undefined
  }
  const viewOf = {
    transaction(id: string) {
      const entry = payments.entry(id)
      return entry && world.views.transaction(entry)
    },
    kyc(id: string) {
      const entry = kyc.entry(id)
      return entry && world.views.kyc(entry)
    },
  }[what]
  const id = plainly(tests, what === 'kyc' ? 'kyc_id' : 'transaction_id')
  const user = what === 'kyc' ? plainly(tests, 'user_id') : undefined
  const [index, key] = user === undefined ? ['all', 'all'] : ['user', user]
  const table = what === 'kyc' ? kyc : payments
  /** The records that may be meant, newest first. */
  function* records(): Generator<Resource> {
    const ids = id === undefined ? newestFirst(pageOf) : [{ id }]
    for (const entry of ids) {
      const text = viewOf(entry.id)
      if (text !== undefined) yield JSON.parse(text)
    }
  }
  const pageOf = (offset: number, limit: number): readonly { id: string }[] =>
    table.page(index, key, offset, limit)
  const wait: Wait<Resource> = {
    findExisting() {
      if (id !== undefined) return fitting(viewOf(id))
      const take = (entry: { id: string }) => fitting(viewOf(entry.id))
      return firstOf(newestFirst(pageOf), take, world.outside.yieldsToOthers)
    },
    onEvent: ({ kind, subject }) =>
      kind === 'change' && subject.type.startsWith(`${what}.`)
        ? fitting(viewOf(subject.resource_id))
        : undefined,
    timeoutError() {
      const noun = what === 'kyc' ? 'KYC record' : 'transaction'
      const misses = nearestRecords(records(), tests, (data) => `${noun} ${data[`${what}_id`]}`)
      const reasons = [
        spellingReason(tests),
        missText(misses, ` There is no such ${noun} yet.`),
        clockReason(world),
      ]
      return lateFor(noun, timeoutMs, reasons, misses)
    },
  }
  return wait
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

/** Waits in place of sleeping. */
export const waitCalls = [
  adminCall({
    id: 'wait',
    method: 'POST',
    url: '/wait',
    summary: 'Answer when a request, delivery, transaction or kyc is as match says, or 408',
    body: z.strictObject({
      for: z.enum(['request', 'delivery', 'transaction', 'kyc']),
      match: outlineOf<Matches>(z.looseObject({})).default({}),
      timeout_ms: z.int().min(0).max(MAX_MS).default(10_000),
    }),
    response: z
      .strictObject({
        for: z.string(),
        request: LoggedRequest.optional(),
        delivery: Delivery.optional(),
        transaction: z.looseObject({}).optional(),
        kyc: z.looseObject({}).optional(),
      })
      .meta({ id: 'Waited' }),
    errors: ['wait_timeout', 'not_ready', 'caller_gone'],
    async handle(world, { body: { for: what, match, timeout_ms: timeoutMs }, hangUpSignal }) {
      const limits = { timeout_ms: timeoutMs, signal: hangUpSignal() }
      switch (what) {
        case 'request': {
          const wait = await forRequest(world, match, timeoutMs)
          return { for: what, request: await waitFor(world, { ...wait, ...limits }) }
        }
        case 'delivery': {
          const wait = await forDelivery(world, match, timeoutMs)
          return { for: what, delivery: await waitFor(world, { ...wait, ...limits }) }
        }
        default: {
          const wait = await forResource(world, what, match, timeoutMs)
          return { for: what, [what]: await waitFor(world, { ...wait, ...limits }) }
        }
      }
    },
  }),
]
