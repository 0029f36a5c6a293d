import type { FastifyRequest } from 'fastify'
import type { KycStep, LifecycleOutcome, ResponseOutcome } from '../scenarios/compiled.ts'
import { type Decision, runsOperation } from '../scenarios/decide.ts'
import type { RuleCall } from '../scenarios/match.ts'
import type { OperationId } from '../scenarios/operations-and-events.ts'
import { depsOf } from './app-deps.ts'

/** The later steps of what a call creates; those of KYC are one list for each document. */
export type Lifecycles = Omit<LifecycleOutcome, 'kyc'> & {
  kyc?: readonly (readonly KycStep[] | null | undefined)[]
  /** How long reads do not find what the call creates. */
  visible_after_ms?: number | undefined
}

/** The decision about a call: the response, the later steps of what it creates, and the rule. */
export type CallDecision = ResponseOutcome & {
  rule?: string | undefined
  /** The one of them that chose the steps of a payment. */
  stepsRule?: string | undefined
  lifecycles: Lifecycles
}

// Limits the length of the header: a call with fifty documents can match fifty rules.
const MAX_RULES_NAMED = 8

const RESPONSE_KEYS = ['respond', 'delay', 'fault', 'visible_after_ms'] as const

const nameOf = ({ scenario, rule }: Pick<Decision, 'scenario' | 'rule'>) => `${scenario}: ${rule}`

/** The names of the rules that acted, without duplicates: `default: amount 100.92`. */
function rulesOf(decisions: readonly (Decision | undefined)[]): string | undefined {
  const hits = decisions.flatMap((one) => (one ? [one, ...(one.also ? [one.also] : [])] : []))
  const names = new Set(hits.map(nameOf))
  return names.size === 0 ? undefined : [...names].slice(0, MAX_RULES_NAMED).join(', ')
}

/** The call as rules read it, as it was sent; user and account are looked up when a rule needs them. */
function callOf(operation: OperationId, request: FastifyRequest, item?: unknown): RuleCall {
  const { headers, url, world } = request
  const params = (request.params ?? {}) as Readonly<Record<string, string>>
  const body = (request.sentBody ?? {}) as Readonly<Record<string, string>>
  return {
    operation,
    params,
    headers,
    body,
    item,
    get query() {
      return Object.fromEntries(new URLSearchParams(url.replace(/^[^?]*/, '')))
    },
    get user() {
      const id = body['user_id'] ?? body['from_user_id'] ?? params['userId']
      return world.tables.tables.users.get(id ?? '')
    },
    get account() {
      return world.tables.tables.bank_accounts.get(body['benif_bank_id'] ?? '')
    },
  }
}

/** Lets the scenarios decide about a call and, for POST /kyc, about each document; hits are counted first. */
export function decideCall(operation: OperationId, request: FastifyRequest): CallDecision {
  const { scenarios } = request.world
  const header = request.headers['x-sandbox-scenario']
  const name = typeof header === 'string' ? header : undefined
  // What a scenario expects is about the code of the caller.
  if (!depsOf(request).onHandled) scenarios.countCall(operation)
  if (name === undefined && !scenarios.concerns(operation)) return { lifecycles: {} }
  const decision = scenarios.decide(callOf(operation, request), name)
  const outcome = decision?.outcome ?? {}
  if (operation === 'submitKyc' && runsOperation(outcome))
    return decideDocuments(request, name, decision)
  const { transaction, bank, visible_after_ms } = outcome
  return {
    ...outcome,
    rule: rulesOf([decision]),
    // The rule that decides the lifecycle is the first one.
    stepsRule: decision && transaction && nameOf(decision),
    lifecycles: { ...(transaction && { transaction }), ...(bank && { bank }), visible_after_ms },
  }
}

/** Lets the scenarios decide about each document of a call, about which they have made this decision. */
function decideDocuments(
  request: FastifyRequest,
  name: string | undefined,
  decision: Decision | undefined,
): CallDecision {
  const { kyc: items } = request.sentBody as { kyc: readonly unknown[] }
  const decisions: (Decision | undefined)[] = []
  // The rule of a document can also decide the response; the first such rule decides for the call.
  let responding: Decision | undefined
  for (const item of items) {
    const one = request.world.scenarios.decide(callOf('submitKyc', request, item), name)
    decisions.push(one)
    if (one && RESPONSE_KEYS.some((key) => one.outcome[key] !== undefined)) responding ??= one
    // If the call is not executed, the remaining documents count no hits.
    if (responding && !runsOperation(responding.outcome)) break
  }
  const outcome: ResponseOutcome = { ...responding?.outcome, ...decision?.outcome }
  const { visible_after_ms } = outcome
  return {
    ...outcome,
    // The rule of the response is named first.
    rule: rulesOf([decision, responding, ...decisions]),
    lifecycles: { kyc: decisions.map((one) => one?.outcome.kyc), visible_after_ms },
  }
}
