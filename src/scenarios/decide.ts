import {
  type CompiledRule,
  type CompiledScenario,
  type CompiledWebhookRule,
  isCarriedOut,
  type Limited,
  type OperationRules,
  type Outcome,
  type Turn,
  type WebhookOutcome,
} from './compiled.ts'
import { hashOf } from './hash.ts'
import type { Call, CallParts, EventCall } from './match.ts'

/** How often a rule's `when` held (for one value of its key), and how often the rule acted. */
export type Counter = { matched: number; hits: number }

/** Where counters are kept; the world stores them, so that they survive a restart. */
type Counters = {
  get(key: string): Counter | undefined
  set(key: string, counter: Counter): void
}

/** Draw `n` of a rule, in [0, 1): a function of seed, label and n alone, so that no rule moves another's draws. */
type Chance = (label: string, n: number) => number

/** A rule that acted: `hit` is how often it has, this time included. */
export type Hit = { scenario: string; rule: string; hit: number }

/** What a call meets. `also` is the rule that decided the other question, where two rules did. */
export type Decision = Hit & { outcome: Outcome; also?: Hit }

/** What an event meets on its way out. */
export type WebhookDecision = Hit & { outcome: WebhookOutcome }

type RuleMatch = { rule: CompiledRule; turn: Turn; hit: number }

/** What this call has spent already; `null`: the rule was spent and passed, or did not act. */
type Earlier = Map<CompiledRule, RuleMatch | null>

export type DeciderDeps = {
  /** In order: the header's scenario, pushed rules, the active one and what it extends, the default. */
  layers: readonly CompiledScenario[]
  counters: Counters
  chance: Chance
}

const NEVER: Counter = { matched: 0, hits: 0 }

/**
 * The name of a rule's counter. With a `key`, each value of it has a counter of its own, named
 * `<this>\n<hash of the value>`; the value itself is not kept, for it may be an account number.
 */
export const counterName = ({ scenario, id }: Pick<Limited, 'scenario' | 'id'>): string =>
  `${scenario}#${id}`

function counterFor(rule: Limited, call: Call | EventCall): string {
  if (!rule.keyOf) return counterName(rule)
  // Calls without a value at the path share one counter.
  return `${counterName(rule)}\n${hashOf(JSON.stringify(rule.keyOf(call) ?? null))}`
}

/**
 * The one point where it is decided what happens to a call.
 *
 * A call raises two questions: how is it answered (`respond`, `delay`, `fault`), and what becomes of what it makes (`kyc`,
 * `bank`, `transaction`)? For each the first rule that matches and has a say decides, so a rule that only delays leaves the
 * life of a payment to the rules below it. A rule with a say in both is spent once. Where the call is answered instead
 * of being carried out, the second question is not put and spends nothing.
 *
 * What spends a rule, in this order: its `when` holds; it has acted fewer than `times` times (else it no longer matches,
 * and nothing is counted); `matched` goes up; the first `skip` matches pass by; of the rest, `chance` draws one number per match,
 * draw n being the rule's n-th match; then `hits` goes up, and the hit picks the turn of a `sequence`.
 * A turn `pass` is a hit, but the search goes on. All of it is done before `decide` returns.
 *
 * POST /kyc is asked first as a call (no `item`), then, where it is carried out, once for each document with
 * `item` set. Rules that look at `item` or decide about `kyc` are asked per document only, all others once for the call.
 * A document's decision may carry an answer too: the first document's that does is the call's.
 */
export function createDecider({ layers, counters, chance }: DeciderDeps) {
  /** Spends a rule whose `when` holds: the number of its hit, or `undefined` where it does not act this time. */
  function spend(
    rule: Limited,
    call: Call | EventCall,
    end = Number.POSITIVE_INFINITY,
  ): number | undefined {
    const name = counterFor(rule, call)
    const { matched, hits } = counters.get(name) ?? NEVER
    if (hits >= rule.times || hits >= end) return undefined
    const n = matched + 1
    const acts = n > rule.skip && (rule.chance === 1 || chance(name, n) < rule.chance)
    counters.set(name, { matched: n, hits: acts ? hits + 1 : hits })
    return acts ? hits + 1 : undefined
  }

  /** The turn of a rule whose `when` holds; `undefined` where it does not act, or passes. */
  function turnOf(rule: CompiledRule, call: Call): { turn: Turn; hit: number } | undefined {
    const { turns, thenOn } = rule
    const hit = spend(rule, call, thenOn === 'pass' ? turns.length : undefined)
    if (hit === undefined) return undefined
    const place = thenOn === 'loop' ? (hit - 1) % turns.length : Math.min(hit, turns.length) - 1
    const turn = turns[place]!
    return turn === 'pass' ? undefined : { turn, hit }
  }

  function rulesFor(layer: CompiledScenario, call: Call): OperationRules {
    if (call.operation === 'submitKyc' && call.item !== undefined) return layer.byItem
    return layer.byOperation.get(call.operation)!
  }

  /** The first rule that has a say in a question; a rule that `earlier` is about is not spent again. */
  function first(question: 'answer' | 'life', call: Call, earlier: Earlier): RuleMatch | undefined {
    let found: RuleMatch | undefined
    const take = (rule: CompiledRule) => {
      const known = earlier.get(rule)
      if (known === undefined) {
        const taken = turnOf(rule, call)
        found = taken && { rule, ...taken }
        earlier.set(rule, found ?? null)
      } else found = known ?? undefined
      return found?.turn[question] !== undefined
    }
    for (const layer of layers) {
      const rules = rulesFor(layer, call)
      const list = question === 'answer' ? rules.answers : rules.lives
      if (list.find(call as CallParts, take)) return found
    }
    return undefined
  }

  const hitOf = ({ rule, hit }: RuleMatch): Hit => ({
    scenario: rule.scenario,
    rule: rule.name,
    hit,
  })

  /** Decides about a call and spends the rules that decide it; `undefined` where no rule has a say. */
  function decide(call: Call): Decision | undefined {
    const earlier: Earlier = new Map()
    const answer = first('answer', call, earlier)
    if (answer && !isCarriedOut(answer.turn.answer!)) {
      return { ...hitOf(answer), outcome: answer.turn.answer! }
    }
    const life = first('life', call, earlier)
    if (!answer) return life && { ...hitOf(life), outcome: life.turn.life! }
    if (!life) return { ...hitOf(answer), outcome: answer.turn.answer! }
    const outcome = { ...answer.turn.answer, ...life.turn.life }
    // The rule that says what happens is the one to be named first.
    return answer === life
      ? { ...hitOf(life), outcome: life.turn.whole }
      : { ...hitOf(life), outcome, also: hitOf(answer) }
  }

  /** Decides about an event on its way out, and spends the rule; `undefined`: it goes out as it is. */
  function decideWebhook(event: EventCall): WebhookDecision | undefined {
    let hit: number | undefined
    const take = (rule: CompiledWebhookRule) => {
      hit = spend(rule, event)
      return hit !== undefined
    }
    for (const layer of layers) {
      const rule = layer.byEvent.get(event.event)?.find(event as CallParts, take)
      if (rule)
        return { scenario: rule.scenario, rule: rule.name, hit: hit!, outcome: rule.outcome }
    }
    return undefined
  }

  return { decide, decideWebhook }
}

/** What decides for one list of layers. */
export type Decider = ReturnType<typeof createDecider>
