import { isObject } from '../model/formats.ts'
import { closestWord, oneOf } from '../model/words.ts'
import type { Assumption } from './assumption.ts'
import * as lists from './lists.ts'
import * as payments from './payments.ts'
import * as requests from './requests.ts'
import * as responses from './responses.ts'
import * as users from './users.ts'
import * as webhooks from './webhooks.ts'

/** Every assumption, in the order of docs/assumptions.md. */
export const ASSUMPTIONS: readonly Assumption[] = [
  requests.idempotencyKey,
  payments.referenceId,
  requests.ownRequestFields,
  payments.amountAsText,
  payments.smallestAmount,
  requests.unknownRequestFields,
  lists.limitParameter,
  lists.largestPage,
  requests.emptyQueryValue,
  requests.trailingSlash,
  lists.pagePastTheEnd,
  responses.malformedId,
  responses.unknownId,
  users.emailFormat,
  users.mobileFormat,
  users.accountNumberFormat,
  users.ifscCase,
  payments.processingStatus,
  responses.statusWords,
  lists.listOrder,
  users.refusedBankAccount,
  users.sameBankAccount,
  payments.unverifiedAccount,
  users.duplicateUser,
  payments.historyMetadata,
  payments.missingRemark,
  payments.historyUtr,
  payments.userHistory,
  payments.utrForm,
  payments.utrOfSuccess,
  payments.lateSuccess,
  users.kycBadDocument,
  responses.entryStatus,
  users.pidAndTid,
  requests.token,
  requests.tokenLifetime,
  requests.rateLimit,
  responses.errorBody,
  responses.newWords,
  webhooks.secondWebhook,
  webhooks.missingWebhook,
  webhooks.webhookDelivery,
  webhooks.webhookOrder,
  webhooks.webhookSignature,
  webhooks.webhookBody,
]

/** Chosen readings by the name of their assumption. An assumption that is missing has its default. */
export type Readings = Readonly<Record<string, string>>

const BY_NAME: ReadonlyMap<string, Assumption> = new Map(ASSUMPTIONS.map((one) => [one.name, one]))

export const DEFAULT_READINGS: Readings = Object.fromEntries(
  ASSUMPTIONS.map((one) => [one.name, one.default]),
)

/** The readings that an assumption takes, as in `ignored, honoured or N/minute`. */
export function readingChoices({ readings, form }: Assumption): string {
  return oneOf([...Object.keys(readings), ...(form ? [form.syntax] : [])])
}

/** The value of a reading; `undefined` if the assumption has no such reading. */
export function valueOfReading<V>({ readings, form }: Assumption<V>, reading: string) {
  if (Object.hasOwn(readings, reading)) return readings[reading]!.value
  return form?.pattern.test(reading) ? form.parse(reading) : undefined
}

/** Readings as a caller wrote them: numbers become strings, and undefined readings count as missing. */
export const givenReadings = (values: object): Readings =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, reading]) => reading !== undefined)
      .map(([name, reading]) => [name, typeof reading === 'number' ? String(reading) : reading]),
  )

/** What is wrong with a chosen reading; `undefined` if it is valid. With `canUndo`, `null` is valid too. */
export function readingProblem(name: string, reading: unknown, canUndo = false) {
  const found = BY_NAME.get(name)
  if (!found) {
    const close = closestWord(name, [...BY_NAME.keys()])
    const hint =
      close === undefined ? 'docs/assumptions.md lists them all' : `did you mean ${close}?`
    return `is not an assumption (${hint})`
  }
  if (reading === null && canUndo) return undefined
  if (typeof reading === 'string' && valueOfReading(found, reading) !== undefined) return undefined
  const range = found.form ? ` (${found.form.range})` : ''
  return `takes ${readingChoices(found)}${range}`
}

const FORMAT = 'payout-sandbox-readings/1'

/** What is known about a service: readings, and where and when they were measured. */
export type Measurement = { against: string; measured_at: string; readings: Readings }

export const readingsDocument = <M extends Measurement>(measurement: M): string =>
  `${JSON.stringify({ format: FORMAT, ...measurement }, null, 2)}\n`

/** Returns the readings of a readings file, or what is wrong with it. */
export function readingsOfDocument(
  document: unknown,
): { readings: Readings } | { problem: string } {
  if (!isObject(document) || !isObject(document['readings']))
    return { problem: 'has no object "readings"' }
  const { format, readings } = document
  if (format !== FORMAT)
    return { problem: `has the format ${JSON.stringify(format)}; this version reads "${FORMAT}"` }
  for (const [name, reading] of Object.entries(readings)) {
    const problem = readingProblem(name, reading)
    if (problem !== undefined)
      return { problem: `has the reading ${name}=${JSON.stringify(reading)}: ${name} ${problem}` }
  }
  return { readings: readings as Readings }
}

/** The readings in force for one client, as values. */
export class Assumed {
  #values = new Map<object, unknown>()
  #readings: Readings = DEFAULT_READINGS

  get readings(): Readings {
    return this.#readings
  }

  get<V>(assumption: Assumption<V>): V {
    const known = this.#values.get(assumption)
    if (known !== undefined) return known as V
    const value = valueOfReading(assumption, this.#readings[assumption.name]!) as V
    this.#values.set(assumption, value)
    return value
  }

  /** What `make` derives from the readings in force. */
  derive<V>(make: (assumed: Assumed) => V): V {
    const known = this.#values.get(make)
    if (known !== undefined) return known as V
    const value = make(this)
    this.#values.set(make, value)
    return value
  }

  /** Puts other readings in force; they are valid. A missing one is the default. */
  use(readings: Readings) {
    this.#readings = { ...DEFAULT_READINGS, ...readings }
    this.#values = new Map()
  }
}
