import type {
  CompiledRule,
  CompiledScenario,
  Outcome,
  ResponseOutcome,
  RuleLimits,
  Turn,
  WebhookOutcome,
} from './compiled.ts'
import { passesAll, type RuleCall, type RuleEvent } from './match.ts'
import type { OperationId } from './operations-and-events.ts'
import { counterFor } from './references.ts'

/** Whether the operation runs, now or later: no scripted response replaces it, and no fault happens before it. */
export const runsOperation = ({ respond, fault, at, late_ms }: ResponseOutcome): boolean =>
  (respond === undefined && fault === undefined) || at === 'after' || late_ms !== undefined

/** How often a rule's `when` matched (for one value of its `key`), and how often the rule acted. */
export type Counter = { matched: number; hits: number }

/** A rule that acted; `hit` is how often it has acted, including this time. */
export type Hit = { scenario: string; rule: string; hit: number }

/** What happens to a call. If two rules decided, `also` is the one that decided the response. */
export type Decision = Hit & { outcome: Outcome; also?: Hit }

export type WebhookDecision = Hit & { outcome: WebhookOutcome }

type RuleMatch = { rule: CompiledRule; turn: Turn; hit: number }

/** The rules that this call has already counted; `null`: the rule passed or did not act. */
type CountedRules = Map<CompiledRule, RuleMatch | null>

export type DeciderDeps = {
  /** In this order: the scenario of the header, the pushed rules, the active scenario and those that it extends, the default. */
  layers: readonly CompiledScenario[]
  /** The world persists them, so that they survive a restart. */
  counters: Pick<Map<string, Counter>, 'get'> & { set(key: string, counter: Counter): void }
  /** Returns draw `n` of a rule, in [0, 1). It depends only on seed, label and n, so that rules do not affect each other's draws. */
  chance: (label: string, n: number) => number
  now: () => number
  /** When a scenario was activated, or its only rule was pushed, ms. */
  since: (scenario: string) => number
}

const NEVER: Counter = { matched: 0, hits: 0 }

/**
 * Creates the decider: the only place that decides what happens to calls and events.
 *
 * There are two decisions for a call: its response (`respond`, `delay`, `fault`, `visible_after`), and the lifecycle of the resource that it
 * creates (`kyc`, `bank`, `transaction`). The first matching rule with an outcome for a decision makes it, so a rule that
 * only delays leaves the lifecycle of a payment to the rules below it. A rule that makes both decisions is counted once. If a
 * response replaces the operation, there is no lifecycle to decide, and no rule is counted for it.
 *
 * How a rule is counted, in this order: its `when` matches; it has acted fewer than `times` times (otherwise it does not match,
 * and nothing is counted); `matched` is incremented; the first `skip` matches are ignored; for each other match, `chance` draws
 * one number, where draw n belongs to the rule's n-th match; `hits` is incremented, and the hit selects the turn of a `sequence`.
 * A turn `pass` is a hit, but the search continues. All counters are updated before `decide` returns.
 *
 * For POST /kyc there is one decision for the call (without `item`) and, if the operation runs, one for each document (with
 * `item`). Rules that test `item` or have a `kyc` outcome are evaluated for each document only, all others once for the call.
 * The decision for a document may have a response too: the first document with one decides the response of the call.
 */
export function createDecider({ layers, counters, chance, now, since }: DeciderDeps) {
  /** Whether a rule applies at this time to a call or an event. */
  const matches = ({ appliesAt, scenario, tests }: RuleLimits, call: RuleCall | RuleEvent) =>
    (appliesAt === undefined || appliesAt(now(), now() - since(scenario))) && passesAll(tests, call)

  /** Counts a match of a rule. Returns the number of the hit, or `undefined` if the rule does not act this time. */
  function countMatch(
    rule: RuleLimits,
    call: RuleCall | RuleEvent,
    end = Number.POSITIVE_INFINITY,
  ): number | undefined {
    const name = counterFor(rule, call)
    const { matched, hits } = counters.get(name) ?? NEVER
    if (hits >= rule.times || hits >= end) return undefined
    const n = matched + 1
    const isHit = n > rule.skip && (rule.chance === 1 || chance(name, n) < rule.chance)
    counters.set(name, { matched: n, hits: isHit ? hits + 1 : hits })
    return isHit ? hits + 1 : undefined
  }

  /** Counts a match of a rule and returns its turn; `undefined` if the rule does not act or passes. */
  function turnOf(rule: CompiledRule, call: RuleCall): { turn: Turn; hit: number } | undefined {
    const { turns, thenOn } = rule
    const hit = countMatch(rule, call, thenOn === 'pass' ? turns.length : undefined)
    if (hit === undefined) return undefined
    const index = thenOn === 'loop' ? (hit - 1) % turns.length : Math.min(hit, turns.length) - 1
    const turn = turns[index]!
    return turn === 'pass' ? undefined : { turn, hit }
  }

  const byOperation = new Map<string, readonly CompiledRule[]>()

  /** The rules of all layers for the calls of an operation, or for the documents of POST /kyc. */
  function rulesFor(operation: OperationId, perItem: boolean): readonly CompiledRule[] {
    const key = perItem ? 'item' : operation
    const known = byOperation.get(key)
    if (known) return known
    const rules = layers.flatMap((layer) =>
      layer.rules.filter((rule) => rule.perItem === perItem && rule.operations.includes(operation)),
    )
    byOperation.set(key, rules)
    return rules
  }

  /** Returns the first rule that makes this decision. Does not count the rules in `counted` again. */
  function firstRuleFor(decision: 'response' | 'lifecycle', call: RuleCall, counted: CountedRules) {
    const perItem = call.operation === 'submitKyc' && call.item !== undefined
    for (const rule of rulesFor(call.operation, perItem)) {
      const canDecide = rule.turns.some((turn) => turn !== 'pass' && turn[decision])
      if (!canDecide || !matches(rule, call)) continue
      let found = counted.get(rule)
      if (found === undefined) {
        const taken = turnOf(rule, call)
        found = taken ? { rule, ...taken } : null
        counted.set(rule, found)
      }
      if (found?.turn[decision]) return found
    }
    return undefined
  }

  const hitOf = ({ rule, hit }: { rule: RuleLimits; hit: number }): Hit => ({
    scenario: rule.scenario,
    rule: rule.name,
    hit,
  })

  /** Decides what happens to a call, and counts the rules; returns `undefined` if no rule decides. */
  function decide(call: RuleCall): Decision | undefined {
    const counted: CountedRules = new Map()
    const response = firstRuleFor('response', call, counted)
    const replaces = response && !runsOperation(response.turn.response!)
    const lifecycle = replaces ? undefined : firstRuleFor('lifecycle', call, counted)
    // The rule that decides the lifecycle is named first.
    const first = lifecycle ?? response
    if (!first) return undefined
    const outcome = { ...response?.turn.response, ...lifecycle?.turn.lifecycle }
    const also = response && response !== first && { also: hitOf(response) }
    return { ...hitOf(first), outcome, ...also }
  }

  const webhookRules = layers.flatMap(({ webhooks }) => webhooks)

  /** Decides how an event is sent, and counts the rule; returns `undefined` if the event is sent unchanged. */
  function decideWebhook(event: RuleEvent): WebhookDecision | undefined {
    for (const rule of webhookRules) {
      if (!rule.events.includes(event.event) || !matches(rule, event)) continue
      const hit = countMatch(rule, event)
      if (hit === undefined) continue
      return { ...hitOf({ rule, hit }), outcome: rule.outcome }
    }
    return undefined
  }

  /** Whether a rule may decide about a call of this operation. */
  const concerns = (operation: OperationId): boolean =>
    rulesFor(operation, false).length > 0 ||
    (operation === 'submitKyc' && rulesFor(operation, true).length > 0)

  return { decide, decideWebhook, concerns }
}

export type Decider = ReturnType<typeof createDecider>
