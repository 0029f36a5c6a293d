import { INLINE } from '../../active-scenario/check-definition.ts'
import { allPages } from '../../admin/admin-client.ts'
import type { AdminApi, ResponseBody } from '../../admin/caller.ts'
import type { PaymentRow } from '../../model/payment.ts'
import { wallNow } from '../../runtime/real-time.ts'
import { createSender } from '../../webhooks/send.ts'
import { factOf } from '../coverage/collector.ts'
import type { Observer, Payee } from './observe.ts'
import { PLAN_NAME, planDefinition } from './plans.ts'
import { AFTER_MS, type Running, type Stage } from './start-run.ts'

type Tables = ResponseBody<'getState'>['tables']
type LoggedCall = ResponseBody<'listRequests'>['requests'][number]

// The request log has no more.
const MAX_CALLS = 1_000
// Without a rule, calls with these statuses are rejected before rules count them.
const REJECTED = [400, 401, 403, 404, 409, 415, 422]

/** The rules of a plan as a sandbox of its own names them. */
const planned = (rule: string) => rule.replaceAll(`${INLINE}: `, `${PLAN_NAME}: `)

function observedCall(call: LoggedCall) {
  const { path, query, body, status, rule, at } = call
  const search = new URLSearchParams(query as Record<string, string>).toString()
  return {
    ...call,
    url: search === '' ? path : `${path}?${search}`,
    body: body === null ? '' : JSON.stringify(body),
    rule: rule && planned(rule),
    isDecided: rule !== null || status === null || !REJECTED.includes(status),
    at: Date.parse(at),
  }
}

const FAILURE = /"transaction_id":"([^"]+)"[^{}]*"transaction_status":"failed"/g

/** The payments that a response shows as failed; the log has no long responses. */
const failuresIn = ({ response }: LoggedCall) =>
  [...JSON.stringify(response).matchAll(FAILURE)].map(([, id]) => id!)

const payeeIn = ({ kyc, bank_accounts }: Tables, row: PaymentRow): Payee => ({
  account: bank_accounts.find(
    ({ bank_id, updated_at }) => bank_id === row.benif_bank_id && updated_at <= row.created_at,
  ),
  records: kyc.filter(
    ({ user_id, updated_at }) => user_id === row.to_user_id && updated_at <= row.created_at,
  ),
})

/** Opens one run in a client: what happened there is read from the admin API when the command has ended. */
async function openStage(
  api: AdminApi,
  observer: Observer,
  { name, scenario, env }: { name: string; scenario: string; env: NodeJS.ProcessEnv },
): Promise<Stage> {
  const client = { name, epoch: 0 }
  const before = (await api('getState')).tables.payments.map((one) => one.transaction_id)
  const isOwn = ({ transaction_type, transaction_id }: PaymentRow) =>
    transaction_type === 'debit' && !before.includes(transaction_id)
  async function see(): Promise<Tables> {
    const { tables } = await api('getState')
    const payers = new Map(tables.users.map(({ user_id, email }) => [user_id, email]))
    for (const row of tables.payments)
      if (row.transaction_type === 'debit') observer.keepRow(client, row, !isOwn(row))
    for (const row of tables.payments.filter(isOwn)) {
      const payer = payers.get(row.from_user_id) ?? ''
      observer.seePayment(client, row, payer, () => payeeIn(tables, row))
    }
    // When they were sent in real time is unknown.
    for (const { rule, ...row } of tables.deliveries) {
      const named = rule === undefined ? row : { ...row, rule: planned(rule) }
      observer.seeDelivery(client, named, Number.NaN)
    }
    return tables
  }
  const { send, close } = createSender({ allow: [], wall: wallNow })
  const failures: string[] = []
  return {
    env,
    send,
    close,
    async commandEnded() {
      const read = allPages((query?: object) => api('listRequests', query && { query }))
      const calls = (await read({ limit: MAX_CALLS })).requests.toReversed()
      const startedAt = Date.parse(calls[0]?.wall_at ?? '')
      for (const call of calls) {
        const seen = observedCall(call)
        failures.push(...failuresIn(call))
        observer.seeCall(client, seen, Date.parse(call.wall_at) - startedAt, seen.at)
      }
      observer.events = (await see()).events.length
    },
    async settle() {
      await api('setScenario', { body: { name: scenario } })
      // An attempt may wait for a receiver that has ended with the command.
      await api('advanceClock', { body: { by: `${AFTER_MS}ms` } }).catch(() => {})
      await see()
    },
    hasReadFailure: (id) => failures.includes(id),
    async seen() {
      const { groups } = await api('getCoverage')
      const facts = groups.flatMap(({ group, items }) =>
        items.filter((one) => one.met).map((one) => factOf(group, one.subject, one.behaviour)),
      )
      return new Set(facts)
    },
  }
}

/** Connects to a client of a sandbox that already runs, and resets it; `env` is that of the command. */
export async function connectRunning(
  api: AdminApi,
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<Running> {
  // It is needed after each run, and may be off.
  await api('getCoverage')
  const reset = () => api('reset', { body: {} })
  await reset()
  const { assumptions } = await api('listAssumptions')
  const { name: scenario } = await api('getScenario')
  const { speed: clockSpeed } = await api('getClock')
  return {
    scenario,
    inForce: Object.fromEntries(assumptions.map((one) => [one.name, one.reading])),
    clockSpeed,
    async open(plan, observer) {
      await reset()
      if (plan.length > 0)
        await api('setScenario', { body: { definition: planDefinition(plan, scenario) } })
      return openStage(api, observer, { name, scenario, env })
    },
  }
}
