import * as z from 'zod'
import { adminCall, outlineOf } from '../../http/admin-call.ts'
import { Delivery, type DeliveryRow, type EventRow } from '../../model/delivery.ts'
import { callerGone, SandboxError } from '../../model/errors.ts'
import { KycRecord } from '../../model/kyc.ts'
import { LoggedRequest } from '../../model/logged-request.ts'
import { Transaction } from '../../model/transaction.ts'
import { didYouMean, quoteValue } from '../../model/words.ts'
import { missText } from '../../requests/near-miss.ts'
import { callsElsewhere, requestDetails } from '../../requests/request-log.ts'
import { invalidMatch, nearestRequests, nearestRequestText } from '../../requests/request-match.ts'
import type { Later } from '../../runtime/real-time.ts'
import type { Condition } from '../../scenarios/condition.ts'
import { loadReader } from '../../scenarios/library.ts'
import { predicateOf, type Test, testsOf } from '../../scenarios/match.ts'
import type { CallMatch } from '../../scenarios/when-schema.ts'
import type { AnyFeedEvent, Feed } from '../../world/feed.ts'
import type { Sandbox } from '../../world/sandbox.ts'
import type { World } from '../../world/world.ts'
import { readRequestMatch } from './requests.ts'
import {
  clockHint,
  nearestRecords,
  newestFirst,
  timeoutError,
  unknownValueHint,
} from './wait-reasons.ts'
import { deliveryResponse } from './webhooks.ts'

const MAX_MS = 60_000

/** Something to wait for: `findExisting` searches the present state, `onEvent` checks each later event of the feed. */
type WaitTarget<T> = {
  findExisting: () => Promise<T | undefined> | T | undefined
  onEvent: (event: AnyFeedEvent) => T | undefined
  /** Makes the error that is thrown after the timeout. */
  timeoutError: () => SandboxError | Promise<SandboxError>
}

const feedEnded = () =>
  new SandboxError('not_ready', 'The client was deleted or the sandbox is shutting down.')

/**
 * Resolves with the match as soon as it exists; rejects with `timeoutError()` after this real time, or with `not_ready` if
 * the feed closes. `signal` is aborted when the caller stops waiting.
 */
function waitFor<T>(
  { findExisting, onEvent, timeoutError }: WaitTarget<T>,
  feed: Feed,
  later: Later,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let stop: (() => void) | undefined
    let searching: Promise<unknown> = Promise.resolve()
    // Before the feed is watched: one that has ended says so immediately.
    const onAbort = () => fail(callerGone())
    // A search that is still running may find it.
    const cancelTimeout = later(timeoutMs, () => searching.then(timeoutError).then(fail, fail))
    stop = feed.watch({
      onEvent(event) {
        // The whole state was replaced: the match may be in the new one.
        if (event.kind === 'reset' || event.kind === 'restore') search()
        else resolveIfFound(onEvent(event))
      },
      onEnd: () => fail(feedEnded()),
    })

    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)

    function cleanUp() {
      signal.removeEventListener('abort', onAbort)
      cancelTimeout()
      stop?.()
    }
    function fail(error: unknown) {
      cleanUp()
      reject(error)
    }
    function resolveIfFound(item: T | undefined) {
      if (item === undefined) return
      cleanUp()
      resolve(item)
    }
    function search() {
      searching = Promise.resolve().then(findExisting).then(resolveIfFound, fail)
    }
    search()
  })
}

/** The first defined result of `take`. */
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
  timeoutMs: number,
  { allRequests }: Sandbox,
) {
  const { requests } = world
  const match = await readRequestMatch(() => world.tables, value)
  const wait: WaitTarget<LoggedRequest> = {
    findExisting() {
      const call = requests.newestFirst().find(match.holds)
      return call && requestDetails(call)
    },
    onEvent: ({ kind, subject }) =>
      kind === 'request' && match.holds(subject) ? requestDetails(subject) : undefined,
    timeoutError() {
      const misses = nearestRequests(match, requests.newestFirst())
      const found =
        nearestRequestText(misses, requests.count) + callsElsewhere(allRequests, world.name)
      const reasons = [found, clockHint(world)]
      return timeoutError('request', timeoutMs, reasons, misses)
    },
  }
  return wait
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

async function forDelivery(world: World, value: object, timeoutMs: number) {
  const { deliveries } = world.webhooks
  const tests = await testsFor(value, DELIVERY_FIELDS)
  const matches = predicateOf(tests)
  const wantsBody = tests.some(({ path }) => path[0] === 'body')
  const take = (row: DeliveryRow) => {
    const data = deliveryResponse(world, row)
    // The event of an old delivery may have been deleted.
    const event: EventRow | undefined = wantsBody ? deliveries.eventOf(row) : undefined
    const body = event && { body: event.body }
    return matches({ data: { ...data, ...body } }) ? data : undefined
  }
  const wait: WaitTarget<Delivery> = {
    findExisting: () => firstOf([...deliveries.all()].reverse(), take),
    onEvent: ({ kind, subject }) => (kind === 'delivery' ? take(subject) : undefined),
    timeoutError() {
      const records = newestFirst([...deliveries.all()]).map((row) => deliveryResponse(world, row))
      const recordTests = tests.filter(({ path }) => path[0] !== 'body')
      const misses = nearestRecords(
        records,
        recordTests,
        ({ delivery_id }) => `delivery ${delivery_id}`,
      )
      const reasons = [
        unknownValueHint(tests),
        missText(misses, ' No delivery exists yet.'),
        world.webhooks.current() ? '' : NO_WEBHOOK,
        clockHint(world),
      ]
      return timeoutError('delivery', timeoutMs, reasons, misses)
    },
  }
  return wait
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
  timeoutMs: number,
) {
  const { payments, kyc } = world.tables.tables
  const tests = await testsFor(value, RESOURCE_FIELDS[what])
  const matches = predicateOf(tests)
  const ifMatching = (data: Resource | undefined) => (data && matches({ data }) ? data : undefined)
  const viewOf = {
    transaction(id: string) {
      const entry = payments.entry(id)
      return entry && world.payouts.views.transaction(entry)
    },
    kyc(id: string) {
      const entry = kyc.entry(id)
      return entry && world.payouts.views.kyc(entry)
    },
  }[what]
  const id = exactText(tests, what === 'kyc' ? 'kyc_id' : 'transaction_id')
  const user = what === 'kyc' ? exactText(tests, 'user_id') : undefined
  const [index, key] = user === undefined ? ['all', 'all'] : ['user', user]
  const table = what === 'kyc' ? kyc : payments
  /** The records to compare with the match, newest first. */
  function* records(): Generator<Resource> {
    const all = () => table.page(index, key, 0, table.count(index, key))
    for (const entry of id === undefined ? all() : [{ id }]) {
      const data = viewOf(entry.id)
      if (data) yield data
    }
  }
  const wait: WaitTarget<Resource> = {
    findExisting: () => firstOf(records(), ifMatching),
    onEvent: ({ kind, subject }) =>
      kind === 'change' && subject.type.startsWith(`${what}.`)
        ? ifMatching(viewOf(subject.resource_id))
        : undefined,
    timeoutError() {
      const noun = what === 'kyc' ? 'KYC record' : 'transaction'
      const misses = nearestRecords(records(), tests, (data) => `${noun} ${data[`${what}_id`]}`)
      const reasons = [
        unknownValueHint(tests),
        missText(misses, ` No such ${noun} exists yet.`),
        clockHint(world),
      ]
      return timeoutError(noun, timeoutMs, reasons, misses)
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

/** The call that waits until something happens, so that a test does not need to sleep. */
export const waitCalls = [
  adminCall({
    id: 'wait',
    summary:
      'Wait for a matching request, delivery, transaction or KYC record; 408 after the timeout',
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
      .meta({ id: 'WaitedResponse' }),
    errors: ['wait_timeout', 'not_ready', 'caller_gone'],
    async handle(world, { body, hangUpSignal }, sandbox) {
      const { for: what, match, timeout_ms: timeoutMs } = body
      const signal = hangUpSignal()
      const found = async <T>(target: Promise<WaitTarget<T>>) =>
        waitFor(await target, world.feed, sandbox.runtime.later, timeoutMs, signal)
      switch (what) {
        case 'request':
          return { for: what, request: await found(forRequest(world, match, timeoutMs, sandbox)) }
        case 'delivery':
          return { for: what, delivery: await found(forDelivery(world, match, timeoutMs)) }
        default:
          return { for: what, [what]: await found(forResource(world, what, match, timeoutMs)) }
      }
    },
  }),
]
