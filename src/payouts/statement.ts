import { isoOf } from '../model/formats.ts'
import { type PaymentRow, rupeesOf, stepsOf } from '../model/payment.ts'
import {
  type Days,
  type Direction,
  type Statement,
  type StatementRow,
  sumsOf,
} from '../model/statement.ts'
import type { CompiledStatementRule } from '../scenarios/compiled.ts'
import { passesAll } from '../scenarios/match.ts'
import type { SandboxTables } from '../tables/tables.ts'
import { DAY_MS, INDIA_MS } from './payments.ts'

/** Money that moved, as the bank of the provider books it. */
type Movement = {
  payment: PaymentRow
  direction: Direction
  booked_at: string
  paise: number
  utr: string | null
  /** The rule that changes it in the statement. */
  rule?: string
}

/** A debit for each success of a payment, and a credit for each failure after one. */
export function movementsOf(payment: PaymentRow): Movement[] {
  const { paise, utr } = payment
  let isPaid = false
  return stepsOf(payment).flatMap(({ status, at: booked_at }) => {
    const moves = status === (isPaid ? 'FAILED' : 'SUCCESS')
    if (!moves) return []
    isPaid = !isPaid
    return [{ payment, direction: isPaid ? 'debit' : 'credit', booked_at, paise, utr }]
  })
}

const byInstant = (a: Movement, b: Movement) =>
  Number(a.booked_at > b.booked_at) - Number(a.booked_at < b.booked_at)

/** All movements of a client's money, oldest first. Incoming credits are not its payouts, so they aren't in it. */
const allMovements = ({ tables: { payments } }: SandboxTables): Movement[] =>
  payments
    .page('type', 'debit', 0, Number.POSITIVE_INFINITY)
    .reverse()
    .flatMap(({ row }) => movementsOf(row))
    .sort(byInstant)

/** What a statement says of a movement: as often and as late as the rule says. */
function toldOf(movement: Movement, { outcome }: CompiledStatementRule): Movement[] {
  const { omit, repeat = 1, paise = 0, day, utr } = outcome
  if (omit) return []
  const { booked_at } = movement
  const told = {
    ...movement,
    paise: Math.max(0, movement.paise + paise),
    booked_at: day ? isoOf(Date.parse(booked_at) + DAY_MS) : booked_at,
    utr: utr ? null : movement.utr,
  }
  return Array<Movement>(repeat).fill(told)
}

/** What `when` of a rule reads. */
const partsOf = ({ payment, direction, paise }: Movement) => ({
  data: {
    direction,
    amount: rupeesOf(paise),
    reference: payment.client_transaction_id,
    transaction_id: payment.transaction_id,
    from: payment.from_user_id,
    to: payment.to_user_id,
  },
})

/**
 * The movements as the rules change them. Rules count from the oldest movement on, each time anew, so that the same
 * statement always says the same, whatever was asked for before. Notes in each movement the rule that changes it.
 */
function changedBy(
  store: SandboxTables,
  rules: readonly CompiledStatementRule[],
  movements: readonly Movement[],
) {
  const counts = new Map(rules.map((rule) => [rule, 0]))
  return movements
    .flatMap((movement) => {
      // What the fixtures brought is from before the test.
      if (store.isOfBase('payments', movement.payment.transaction_id)) return [movement]
      const parts = partsOf(movement)
      for (const rule of rules) {
        const matched = counts.get(rule)!
        if (matched >= rule.skip + rule.times || !passesAll(rule.tests, parts)) continue
        counts.set(rule, matched + 1)
        if (matched < rule.skip) continue
        movement.rule = `${rule.scenario}: ${rule.name}`
        return toldOf(movement, rule)
      }
      return [movement]
    })
    .sort(byInstant)
}

/** India's date at an instant, ms. */
export const indiasDate = (ms: number) => isoOf(ms + INDIA_MS).slice(0, 10)

const startOf = (day: string) => Date.parse(`${day}T00:00:00+05:30`)

/** Whether an instant is in some days of India. */
export function dayTest({ date, from = date, to = date }: Days) {
  const start = from === undefined ? Number.NEGATIVE_INFINITY : startOf(from)
  const end = to === undefined ? Number.POSITIVE_INFINITY : startOf(to) + DAY_MS
  return ({ booked_at }: { booked_at: string }) => {
    const at = Date.parse(booked_at)
    return at >= start && at < end
  }
}

export const rowOf = ({ payment, direction, booked_at, paise, utr }: Movement): StatementRow => ({
  booked_at,
  partner_transaction_id: payment.partner_transaction_id,
  client_transaction_id: payment.client_transaction_id,
  transaction_id: payment.transaction_id,
  utr,
  direction,
  amount: rupeesOf(paise),
})

/** What the bank of the provider reports for some days, as the rules of the scenario change it; with `truth`, unchanged too. */
export function statementOf(
  store: SandboxTables,
  rules: readonly CompiledStatementRule[],
  days: Days,
  hasTruth = false,
): Statement {
  const isIn = dayTest(days)
  const all = allMovements(store)
  const told = changedBy(store, rules, all).filter(isIn)
  const statement = { rows: told.map(rowOf), ...sumsOf(told) }
  if (!hasTruth) return statement
  const real = all.filter(isIn)
  const rows = real.map((one) => ({ ...rowOf(one), ...(one.rule && { rule: one.rule }) }))
  return { ...statement, truth: { rows, ...sumsOf(real) } }
}
