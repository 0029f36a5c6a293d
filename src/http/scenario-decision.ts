import type { FastifyRequest } from 'fastify'
import {
  type KycStep,
  type LifecycleOutcome,
  type ResponseOutcome,
  runsOperation,
} from '../scenarios/compiled.ts'
import type { Decision } from '../scenarios/decide.ts'
import type { RuleCall } from '../scenarios/match.ts'
import type { OperationId } from '../scenarios/operations-and-events.ts'
import type { World } from '../world/world.ts'

/** The later steps of what a call creates; those of KYC are one list for each document. */
export type Lifecycles = Omit<LifecycleOutcome, 'kyc'> & {
  kyc?: readonly (readonly KycStep[] | undefined)[]
}

/** The decision about a call: the response, the later steps of what it creates, and the rule. */
export type CallDecision = ResponseOutcome & {
  rule?: string | undefined
  /** The one of them that chose the steps of a payment. */
  stepsRule?: string | undefined
  lifecycles: Lifecycles
}

/** The decision about most calls: no rule matches. */
const UNDECIDED: CallDecision = { lifecycles: {} }

// Limits the length of the header: a call with fifty documents can match fifty rules.
const MAX_RULES_NAMED = 8

const nameOf = ({ scenario, rule }: Pick<Decision, 'scenario' | 'rule'>) => `${scenario}: ${rule}`

/** The names of the rules that acted, without duplicates: `default: paise .92`. */
function rulesOf(decisions: readonly (Decision | undefined)[]): string | undefined {
  const hits = decisions.flatMap((one) => (one ? [one, ...(one.also ? [one.also] : [])] : []))
  const names = new Set(hits.map(nameOf))
  return names.size === 0 ? undefined : [...names].slice(0, MAX_RULES_NAMED).join(', ')
}

type StringFields = Readonly<Record<string, string>>

/** The call as rules read it, as it was sent; user and account are looked up when a rule needs them. */
class ServiceCall implements RuleCall {
  readonly operation: OperationId
  readonly params: StringFields
  readonly headers: unknown
  readonly body: StringFields
  readonly item: unknown
  readonly #url: string
  readonly #world: World

  constructor(
    operation: OperationId,
    { world, params, headers, sentBody: sent, url }: FastifyRequest,
    item?: unknown,
  ) {
    this.operation = operation
    this.params = (params ?? {}) as StringFields
    this.headers = headers
    this.body = (sent ?? {}) as StringFields
    this.item = item
    this.#url = url
    this.#world = world
  }

  get query() {
    const at = this.#url.indexOf('?')
    return at === -1 ? {} : Object.fromEntries(new URLSearchParams(this.#url.slice(at + 1)))
  }

  get user() {
    const { body, params } = this
    const id = body['user_id'] ?? body['from_user_id'] ?? params['userId']
    return this.#world.tables.tables.users.get(id ?? '')
  }

  get account() {
    return this.#world.tables.tables.bank_accounts.get(this.body['benif_bank_id'] ?? '')
  }
}

/** Lets the scenarios decide about a call and, for POST /kyc, about each document; hits are counted first. */
export function decideCall(operation: OperationId, request: FastifyRequest): CallDecision {
  const { world } = request
  const header = request.headers['x-sandbox-scenario']
  const name = typeof header === 'string' ? header : undefined
  world.scenarios.countCall(operation)
  if (name === undefined && !world.scenarios.concerns(operation)) return UNDECIDED
  const call = new ServiceCall(operation, request)
  const decision = world.scenarios.decide(call, name)
  // Most calls match no rule.
  if (!decision && operation !== 'submitKyc') return UNDECIDED
  const rule = rulesOf([decision])
  const outcome = decision?.outcome ?? {}
  const decided: CallDecision = { ...outcome, rule, lifecycles: {} }
  if (operation !== 'submitKyc') {
    const { transaction, bank } = outcome
    decided.lifecycles = { ...(transaction && { transaction }), ...(bank && { bank }) }
    // The rule that decides the lifecycle is the first one.
    if (decision && transaction) decided.stepsRule = nameOf(decision)
    return decided
  }
  if (!runsOperation(outcome)) return decided
  const { kyc: items } = request.sentBody as { kyc: readonly unknown[] }
  const itemDecisions: (Decision | undefined)[] = []
  // The rule of a document can also decide the response; the first such rule decides for the call.
  let responding: Decision | undefined
  for (const item of items) {
    const one = world.scenarios.decide(new ServiceCall(operation, request, item), name)
    itemDecisions.push(one)
    if (one && (one.outcome.respond || one.outcome.delay || one.outcome.fault)) responding ??= one
    // If the call is not executed, the remaining documents count no hits.
    if (responding && !runsOperation(responding.outcome)) break
  }
  const { respond, delay, fault, at } = responding?.outcome ?? {}
  return {
    ...(respond && { respond }),
    ...(delay && { delay }),
    ...(fault && { fault }),
    ...(at && { at }),
    ...decided,
    // The rule of the response is named first.
    rule: rulesOf([decision, responding, ...itemDecisions]),
    lifecycles: { kyc: itemDecisions.map((one) => one?.outcome.kyc) },
  }
}
