import type { Readings } from '../assumptions/readings.ts'
import { compileScenario } from '../scenarios/compile.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import { createDecider, type Decider } from '../scenarios/decide.ts'
import type { Library } from '../scenarios/library.ts'
import { magicValuesOf } from '../scenarios/magic-values.ts'
import type { RuleCall, RuleEvent } from '../scenarios/match.ts'
import type { OperationId } from '../scenarios/operations-and-events.ts'
import { DEFAULT_SCENARIO } from '../scenarios/references.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'
import type { ScenarioDefinition } from '../scenarios/scenario-schema.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { checkScenario, checkScenarios, createRuleCheck, INLINE } from './check-definition.ts'
import { type Choice, CurrentScenario, canCompile, type StartScenario } from './current-scenario.ts'
import { Expectations } from './expectations.ts'
import { PushedRules } from './pushed-rules.ts'
import { RuleCounters } from './rule-counters.ts'
import { checkRuleLimits } from './rule-limits.ts'

/** The kind of the timers of timeline entries. */
export const TIMELINE_ENTRY = 'timeline.entry'

export type ScenariosDeps = WorldContext & {
  library: () => Library
  start: StartScenario
  /** Called with the active scenario's name when scenario, rules or library have changed. */
  onChanged: (name: string) => void
}

const keyOf = ({ name, definition }: Choice) => (definition ? JSON.stringify(definition) : name)

/** Decides about the calls of one client, by header, pushed rules, active scenario and default (scenarios: Promises). */
export class Scenarios {
  readonly #deps: ScenariosDeps
  readonly #counters: RuleCounters
  readonly #pushed: PushedRules
  readonly #current: CurrentScenario
  readonly #expectations = new Expectations()
  // Compiled once for each state of the pushed rules and the active scenario.
  #decider: Decider | undefined

  constructor(deps: ScenariosDeps) {
    const { store, random, library, start } = deps
    this.#deps = deps
    this.#counters = new RuleCounters(store)
    this.#pushed = new PushedRules(store, random, this.#counters)
    this.#current = new CurrentScenario(store, library, start)
  }

  get #library() {
    return this.#deps.library()
  }

  /** The name of the active scenario. */
  get name(): string {
    return this.#current.choice.name
  }

  /** Whether the start scenario must be activated: see `CurrentScenario`. */
  get isStale(): boolean {
    return this.#current.isStale
  }

  /** Drops the compiled rules: a rule, the scenario or the library has changed. */
  changed() {
    this.#decider = undefined
    this.#deps.onChanged(this.name)
  }

  /** Drops compiled rules and counts after the stored tables were replaced. */
  reload() {
    this.#expectations.clear()
    this.changed()
  }

  /** The readings of a scenario and of those that it extends (default: of the active one). */
  readings(choice: Choice = this.#current.choice): Readings {
    return canCompile(this.#library, choice)
      ? this.#library.readingsOf(this.#current.compile(choice))
      : {}
  }

  #layers = () => [...this.#pushed.layers(), ...this.#current.layers()]

  #createDecider = (layers: readonly CompiledScenario[]) =>
    createDecider({ layers, counters: this.#counters, chance: this.#deps.random.at })

  #deciderFor(header?: string): Decider {
    if (header !== undefined) {
      // The default scenario is the last layer anyway; it is first only if the call names it.
      const first = this.#current.ownLayersOf(this.#current.find(header))
      return this.#createDecider([...first, ...this.#layers()])
    }
    this.#decider ??= this.#createDecider(this.#layers())
    return this.#decider
  }

  /** Whether a rule of the client may decide about a call of this operation that names no scenario. */
  concerns(operation: OperationId): boolean {
    return this.#deciderFor().concerns(operation)
  }

  /** Decides about a call, and counts the hits of the deciding rules before anything else happens. */
  decide(call: RuleCall, header?: string) {
    return this.#deps.store.change(() => this.#deciderFor(header).decide(call))
  }

  /** Decides about an outgoing event, and counts the hit of the rule. */
  decideWebhook(event: RuleEvent) {
    return this.#deps.store.change(() => this.#deciderFor().decideWebhook(event))
  }

  /** Counts a call for `expect`. */
  countCall(operation: OperationId) {
    this.#expectations.count(operation)
  }

  /** Activates a scenario, resets its counters, and keeps the unmet expectations of the previous one. */
  #activate(scenario: CompiledScenario, next: Choice) {
    const { choice, exists } = this.#current
    const expect = exists ? this.#expectations.of(this.#current.compile()) : []
    checkRuleLimits(this.#pushed.definitions(), this.#current.ownLayersOf(scenario))
    this.#deps.store.change(() => {
      for (const { name } of this.#library.layersOf(scenario)) this.#counters.remove(name)
      this.#current.set(next)
    })
    this.#expectations.activated(keyOf(next), { key: keyOf(choice), name: choice.name, expect })
    this.changed()
  }

  /** Activates a scenario by its name and resets its counters and those of the scenarios that it extends. */
  use(name: string) {
    this.#activate(this.#current.find(name), { name })
  }

  /** Activates a checked definition and resets its counters. */
  useDefinition(definition: ScenarioDefinition) {
    this.#activate(compileScenario(definition, INLINE), { name: INLINE, definition })
  }

  /** Throws `not_found` if no scenario has this name. */
  checkName(name: string) {
    this.#current.find(name)
  }

  /** Checks a scenario given as JSON. */
  check(value: unknown) {
    return checkScenario(value, this.#library)
  }

  /** Throws if a client cannot have these pushed rules and this scenario together. */
  checkRuleLimits(rules: readonly RuleDefinition[], choice: Choice = this.#current.choice) {
    checkRuleLimits(rules, this.#current.ownLayersOf(this.#current.compile(choice)))
  }

  /** Checks the scenarios that a new client brings. */
  checkOwn(values: Readonly<Record<string, unknown>>) {
    return checkScenarios(values, this.#library)
  }

  /** Adds a checked rule before all others. */
  push(definition: RuleDefinition) {
    this.checkRuleLimits([definition, ...this.#pushed.definitions()])
    const row = this.#pushed.push(definition)
    this.changed()
    return row
  }

  /** Removes a pushed rule. */
  removeRule(id: string) {
    this.#pushed.remove(id)
    this.changed()
  }

  /** The pushed rules with their hits, in the order in which they are checked. */
  pushed() {
    return this.#pushed.describe()
  }

  /** Activates the start scenario and removes all pushed rules and counters. */
  reset = () => {
    this.#pushed.clear()
    this.#counters.remove()
    this.#current.reset()
    this.reload()
  }

  /** Captures scenario, rules, counters and timeline, and returns the function that restores them after a reset of only the data. */
  capture() {
    const { store } = this.#deps
    const { rules, counters, settings, timers } = store.tables
    const before = {
      rules: [...rules.rows()],
      counters: [...counters.rows()],
      setting: settings.get('scenario'),
      timeline: [...timers.rows()]
        .filter(({ kind }) => kind === TIMELINE_ENTRY)
        .sort((a, b) => a.due_at - b.due_at || a.seq - b.seq),
    }
    return () => {
      for (const row of before.rules) store.put('rules', row)
      for (const row of before.counters) store.put('counters', row)
      if (before.setting) store.put('settings', before.setting)
      // With ids and numbers of their own: the random series restarts, and nothing may be drawn from it here.
      for (const [i, row] of before.timeline.entries())
        store.put('timers', { ...row, timer_id: `tml_${i}`, seq: i - before.timeline.length })
      // The rules are as before, so nobody is notified.
      this.#decider = undefined
    }
  }

  /** The timeline entries of the active scenario and of those that it extends. */
  timeline() {
    return this.#current.layers().flatMap(({ timeline }) => timeline)
  }

  /** All scenarios of the library. */
  list() {
    const library = this.#library
    return library.names.map((name) => {
      const { title = null, description = null } = library.get(name)!
      const file = library.fileOf(name) ?? null
      return { name, title, description, file, active: this.name === name }
    })
  }

  /** The magic values of the default scenario. */
  magicValues() {
    return magicValuesOf(this.#current.find(DEFAULT_SCENARIO))
  }

  /** The definition of a scenario, its file, if it has one, and its rules with their hits. */
  textOf(name: string) {
    const scenario = this.name === name ? this.#current.compile() : this.#current.find(name)
    const counted = (rules: CompiledScenario['rules'] | CompiledScenario['webhooks']) =>
      rules.map((rule) => ({ name: rule.name, hits: this.#counters.hitsOf(rule) }))
    return {
      definition: scenario.definition,
      file: this.#library.fileOf(name),
      source: this.#library.sourceOf(name),
      rules: counted(scenario.rules),
      webhooks: counted(scenario.webhooks),
    }
  }

  #hitCount = (rule: { scenario: string; id: string; name: string }) => ({
    name: rule.name,
    // Only a rule of another scenario shows its scenario.
    ...(rule.scenario !== this.name && { scenario: rule.scenario }),
    hits: this.#counters.hitsOf(rule),
  })

  /** The active scenario with the hits of its rules, its expectations, and unmet expectations of previous scenarios. */
  describe() {
    const { name, definition } = this.#current.choice
    const scenario = this.#current.compile()
    const { previous } = this.#expectations
    // With the scenarios that it extends, but without the default one, whose magic values are listed elsewhere.
    const layers = this.#current.ownLayersOf(scenario)
    return {
      name,
      title: scenario.title ?? null,
      ...(definition && { definition }),
      rules: layers.flatMap(({ rules }) => rules.map(this.#hitCount)),
      webhooks: layers.flatMap(({ webhooks }) => webhooks.map(this.#hitCount)),
      expect: this.#expectations.of(scenario),
      ...(previous.length > 0 && { previous }),
    }
  }

  /** Checks a rule given as JSON. */
  async checkRule(value: unknown) {
    return (await createRuleCheck())(value)
  }

  /** Loads the function that checks one rule given as JSON. */
  createRuleCheck = createRuleCheck
}

export const createScenarios = (deps: ScenariosDeps): Scenarios => new Scenarios(deps)
