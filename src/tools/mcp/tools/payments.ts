// tools/mcp/tools/: the tools that an agent can call, one file for each group. A tool has a schema, a text for the agent,
// and the calls that it makes.

// The tools that make things fail, and that explain why something failed.
import * as z from 'zod'
import type { ResponseBody } from '../../../admin/caller.ts'
import { OPERATIONS, operationNamed } from '../../../scenarios/operations-and-events.ts'
import { CALL_FAULTS, type FaultOptions, LIFECYCLE_FAULTS } from '../../faults.ts'
import {
  type Connection,
  defineTool,
  linesOf,
  listText,
  Name,
  OptionalText,
  requestLine,
  ToolError,
} from '../tool.ts'
import { Match } from './service-calls.ts'

const FAULTS = { ...CALL_FAULTS, ...LIFECYCLE_FAULTS }
type FaultName = keyof typeof FAULTS
const NAMES = Object.keys(FAULTS) as [FaultName, ...FaultName[]]

function checkOptions(how: FaultName, options: FaultOptions) {
  const taken = (name: FaultName) => ('takes' in FAULTS[name] ? FAULTS[name].takes : undefined)
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || taken(how) === option) continue
    const others = NAMES.filter((name) => taken(name) === option)
    throw new ToolError(
      `${option} has no effect with how: ${how}; found ${JSON.stringify(value)}.`,
      `omit ${option}, or call it with how: ${others.join(' or ')}.`,
    )
  }
}

const makeCallFail = defineTool('make_call_fail', {
  title: 'Make a call fail',
  description:
    'Pushes a rule, so that the next calls of an operation fail in a chosen way; or removes it.',
  input: z.strictObject({
    operation: z
      .preprocess(operationNamed, z.enum(OPERATIONS))
      .optional()
      .meta({ description: 'createTransaction, or for kyc_… and bank_… the operation of those.' }),
    how: z.enum(NAMES).optional().meta({
      description:
        'The words of scenarios. …_after: the call has its effect, but its response is lost or replaced; without it, the call has no effect. effect_after_timeout: the effect comes after a time. visible_after: reads lag. payment_…: the call succeeds, and the payment goes wrong later.',
    }),
    times: z.int().min(1).default(1).meta({ description: 'How many calls fail.' }),
    when: Match.optional().meta({
      description: 'Only calls that fulfil these conditions, such as {"body": {"amount": 250}}.',
    }),
    status: z.int().min(400).max(599).optional().meta({ description: 'For respond_500.' }),
    delay: OptionalText(
      'How long: for delay and visible_after (5s), and effect_after_timeout (30s).',
    ),
    reason: OptionalText('For payment_failed.'),
    remove: Name.optional().meta({ description: 'The id of a pushed rule to remove.' }),
  }),
  async run({ operation: given, how, times, when = {}, remove, ...options }, { admin }) {
    if (remove !== undefined) {
      if (how !== undefined)
        throw new ToolError(
          `make_call_fail takes how or remove; found both, ${how} and ${JSON.stringify(remove)}.`,
          'call it once for each.',
        )
      await admin('deleteRule', { params: { id: remove } })
      return { text: `Removed ${remove}.`, next: 'calls are decided by the scenario again.' }
    }
    if (how === undefined)
      throw new ToolError(
        'make_call_fail needs how (or remove); found neither.',
        `call it again with how: one of ${NAMES.join(', ')}.`,
      )
    checkOptions(how, options)
    const fault = FAULTS[how]
    const usual = 'operation' in fault ? fault.operation : 'createTransaction'
    const operation = given ?? usual
    const body = { when: { operation, ...when }, times, then: fault.then(options) }
    const rule = await admin('pushRule', { body })
    return {
      text: linesOf(
        `Pushed ${rule.rule_id}: the next ${times === 1 ? operation : `${times} ${operation}`} that matches: ${how}.`,
        ...(rule.warnings ?? []).map((warning) => `Warning: ${warning}`),
      ),
      next: `run your code, then find_requests. make_call_fail with remove: ${rule.rule_id} undoes it.`,
    }
  },
})

const KINDS = {
  payment: 'simulateTransaction',
  kyc: 'simulateKyc',
  bank_account: 'simulateBankAccount',
} as const

const setStatus = defineTool('set_status', {
  title: 'Decide a pending thing by hand',
  description: 'Sets the status of a payment, KYC record or bank account, and sends its event.',
  input: z.strictObject({
    kind: z.enum(Object.keys(KINDS) as [keyof typeof KINDS, ...(keyof typeof KINDS)[]]),
    id: Name,
    status: z.string().meta({
      description:
        'PENDING, PROCESSING, SUCCESS or FAILED; success or failed for kyc and bank_account.',
    }),
    reason: z.string().optional(),
  }),
  async run({ kind, id, status, reason }, { admin }) {
    const wanted = kind === 'payment' ? status.toUpperCase() : status.toLowerCase()
    await admin(KINDS[kind], { params: { id }, body: { status: wanted, reason } })
    return {
      text: `The ${kind.replace('_', ' ')} ${id} is ${wanted}.`,
      next: 'read_webhooks shows the event; your code sees the status at its next call.',
    }
  },
})

type Payment = ResponseBody<'readTransactions'>['transactions'][number]

async function findPayment({ admin }: Connection, reference: string | undefined): Promise<Payment> {
  for (let page = 1; ; page++) {
    const query = { page, limit: 100 }
    const { transactions, total_pages } = await admin('readTransactions', { query })
    const found = transactions.find(
      (one) => reference === undefined || one.reference_id === reference,
    )
    if (found) return found
    if (page >= total_pages)
      throw new ToolError(
        reference === undefined
          ? 'This client has no payment.'
          : `No payment has the reference ${JSON.stringify(reference)}.`,
        'find_requests with {"operation": "createTransaction"} shows whether your code tried to make it, and the response.',
      )
  }
}

type Decided = ResponseBody<'readTransaction'>['decided_by']

async function deciderText({ admin }: Connection, { by, rule }: Decided): Promise<string> {
  const before = rule === null ? '' : `; before that, by rule ${JSON.stringify(rule)}`
  switch (by) {
    case 'call':
      return `set_status, or another admin call${before}`
    case 'timeline':
      return `the timeline of the scenario${before}`
    case 'default':
      return 'no rule, so the standard course'
    case 'unknown':
      return 'unknown; the request log does not have the call that made it: it is from the fixtures, or the log was deleted'
    case 'rule':
      return `rule ${JSON.stringify(rule)}`
    case 'magic_value': {
      const { magic_values } = await admin('listMagicValues')
      const magic = magic_values.filter(
        (one) => one.operation === 'createTransaction' && rule === `default: ${one.rule}`,
      )
      const [{ where, outcome }] = magic as [(typeof magic)[number]]
      return `rule ${JSON.stringify(rule)}, a magic value: ${where} ${magic.map(({ value }) => value).join(' or ')} means ${outcome}`
    }
  }
}

const explainPayment = defineTool('explain_payment', {
  title: 'Why is this payment in this state?',
  description:
    'Shows a payment: its course, its failure reason, what decided it, its events and what follows.',
  readOnly: true,
  input: z.strictObject({
    transaction_id: Name.optional(),
    reference_id: OptionalText('Your reference. Without both: the newest payment.'),
  }),
  async run({ transaction_id: id, reference_id: reference }, connection) {
    const { admin } = connection
    const wanted = id ?? (await findPayment(connection, reference)).transaction_id
    const { transaction, steps, decided_by, requests, deliveries, timers } = await admin(
      'readTransaction',
      { params: { id: wanted } },
    )
    const made = requests.find(({ request_id }) => request_id === decided_by.request_id)
    const others = requests.filter((one) => one !== made && one.operation === 'createTransaction')
    const { failure } = transaction
    const [nextTimer] = timers
    const text = linesOf(
      `Payment ${wanted}: ${transaction.history.status}, ${transaction.amount} ${transaction.currency_code}, reference ${transaction.reference_id ?? '-'}, UTR ${transaction.utr ?? '-'}`,
      `Course: ${steps.map(({ status, at }) => `${status} ${at}`).join(' -> ')}`,
      failure && `Failed because: ${failure.reason}: ${failure.description}`,
      `Decided by: ${await deciderText(connection, decided_by)}`,
      made && `Made by: ${requestLine(made)}`,
      others.length > 0 && listText('Other calls that tried to make it', others, requestLine),
      listText('Events', deliveries, (one) => `${one.event} ${one.delivery_id}: ${one.status}`),
      listText('Will happen', timers, ({ at, kind }) => `${at} ${kind}`),
    )
    return {
      text,
      next: nextTimer
        ? `advance_clock with to: ${nextTimer.at} makes the next step happen.`
        : failure
          ? 'your code must show this reason and must not count the money as sent; a new attempt is a new payment.'
          : transaction.history.status === 'SUCCESS'
            ? 'nothing follows: the money is there, unless set_status changes it.'
            : 'nothing follows by itself: it stays in this state until set_status decides it. Your code must not wait for ever.',
    }
  },
})

export const paymentTools = [makeCallFail, setStatus, explainPayment]
