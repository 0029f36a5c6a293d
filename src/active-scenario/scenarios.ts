import type { Readings } from '../assumptions/readings.ts'
import type { TimerRow } from '../model/delivery.ts'
import { pointOf } from '../model/duration.ts'
import { compileScenario } from '../scenarios/compile.ts'
import type {
  CompiledScenario,
  ResponseOutcome,
  StoredTimelineEntry,
} from '../scenarios/compiled.ts'
import { createDecider, type Decider } from '../scenarios/decide.ts'
import type { Library } from '../scenarios/library.ts'
import { magicValuesOf } from '../scenarios/magic-values.ts'
import type { RuleCall, RuleEvent } from '../scenarios/match.ts'
import type { OperationId } from '../scenarios/operations-and-events.ts'
import { DEFAULT_SCENARIO } from '../scenarios/references.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'
import type { ScenarioDefinition } from '../scenarios/scenario-schema.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { checkScenario, checkScenarios, INLINE } from './check-definition.ts'
import {
  type Choice,
  canCompile,
  createCurrentScenario,
  describeScenario,
  Expectations,
  type StartScenario,
} from './current-scenario.ts'
import { checkRuleLimits, createPushedRules } from './pushed-rules.ts'
import { createRuleCounters, type RuleCounters, type Totals } from './rule-counters.ts'

export const TIMELINE_ENTRY = 'timeline.entry'

/** The pending entries of timelines, the next one first. */
export const entryTimers = ({ tables }: SandboxTables): TimerRow[] =>
  tables.timers
    .rows()
    .filter(({ kind }) => kind === TIMELINE_ENTRY)
    .sort((a, b) => a.due_at - b.due_at || a.seq - b.seq)

export type ScenariosDeps = WorldContext & {
  library: () => Library
  start: StartScenario
  /** The layers of the scenario that `exec` or a sweep imposes on all clients; none otherwise. */
  imposed: () => readonly CompiledScenario[]
  totals: Totals
}

const keyOf = ({ name, definition }: Choice) => (definition ? JSON.stringify(definition) : name)

/** Decides about a client's calls: the imposed scenario first, then header, pushed rules, active scenario and default. */
export class Scenarios {
  readonly #deps: ScenariosDeps
  readonly #counters: RuleCounters
  readonly #pushed: ReturnType<typeof createPushedRules>
  readonly #current: ReturnType<typeof createCurrentScenario>
  readonly #expectations = new Expectations()
  // Compiled once for each state of the pushed rules and the active scenario.
  #decider: Decider | undefined
  #isImposedEnded = false

  constructor(deps: ScenariosDeps) {
    const { store, library, start, clock } = deps
    this.#deps = deps
    this.#counters = createRuleCounters(store, deps.totals, (counter) =>
      deps
        .imposed()
        .some(({ name, definition }) => definition.counts && counter.startsWith(`${name}#`)),
    )
    this.#pushed = createPushedRules(deps, this.#counters)
    this.#current = createCurrentScenario(store, library, start, clock)
  }

  get #library() {
    return this.#deps.library()
  }

  get name(): string {
    return this.#current.choice.name
  }

  /** Whether the start scenario must be activated: see `createCurrentScenario`. */
  get isStale(): boolean {
    return this.#current.isStale
  }

  /** Drops the compiled rules: a rule, the scenario or the library has changed. */
  changed() {
    this.#decider = undefined
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

  get imposes(): boolean {
    return this.#deps.imposed().length > 0
  }

  get isImposedActive(): boolean {
    const { name, definition } = this.#current.choice
    return this.imposes && !definition && this.#library.get(name) === this.#deps.imposed()[0]
  }

  imposedTimeline() {
    return this.#deps.imposed().flatMap(({ timeline }) => timeline)
  }

  /** The imposed layers, until the imposed scenario's timeline has activated another one. */
  #imposedLayers(): readonly CompiledScenario[] {
    if (this.#isImposedEnded) return []
    if (!this.imposedTimeline().some((entry) => 'use' in entry.do)) return this.#deps.imposed()
    for (const { kind, payload } of this.#deps.store.tables.timers.rows()) {
      const { imposed, do: action } = payload as StoredTimelineEntry
      if (kind === TIMELINE_ENTRY && imposed && 'use' in action) return this.#deps.imposed()
    }
    return []
  }

  /** Ends the rules of the imposed scenario; its readings stay. */
  endImposed() {
    this.#isImposedEnded = true
    this.changed()
  }

  /** In order of priority. A layer that comes twice decides at its first place. */
  #createDecider(first: readonly CompiledScenario[] = []) {
    const layers = new Set([
      ...this.#imposedLayers(),
      ...first,
      ...this.#pushed.layers(),
      ...this.#current.layers(),
    ])
    const { random, clock } = this.#deps
    return createDecider({
      layers: [...layers],
      counters: this.#counters,
      chance: random.at,
      now: () => clock.now(),
      since: (scenario) => this.#pushed.pushedAt(scenario) ?? this.#current.activatedAt,
    })
  }

  #deciderFor(header?: string): Decider {
    // The default scenario is the last layer anyway; it is first only if the call names it.
    if (header !== undefined)
      return this.#createDecider(this.#library.ownLayersOf(this.#current.find(header)))
    this.#decider ??= this.#createDecider()
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

  /** The delay of a response, real ms; a value of a range is drawn from the client's random series. */
  delayOf({ minMs, maxMs }: NonNullable<ResponseOutcome['delay']>): number {
    const { store, random } = this.#deps
    return minMs === maxMs ? minMs : pointOf({ minMs, maxMs }, store.change(random.fraction))
  }

  countCall(operation: OperationId) {
    this.#expectations.count(operation)
    const { totals, start } = this.#deps
    const isInForce = this.name === start.fallbackScenario || this.#imposedLayers().length > 0
    if (isInForce) totals.expectations.count(operation)
  }

  /** Activates a scenario, resets its counters, and keeps the unmet expectations of the previous one. */
  #activate(scenario: CompiledScenario, next: Choice) {
    const { choice, exists } = this.#current
    const expect = exists ? this.#expectations.of(this.#current.compile()) : []
    checkRuleLimits(this.#pushed.definitions(), this.#library.ownLayersOf(scenario))
    this.#deps.store.change(() => {
      for (const { name } of this.#library.layersOf(scenario)) this.#counters.remove(name)
      this.#current.set(next)
    })
    this.#expectations.activated(keyOf(next), { key: keyOf(choice), name: choice.name, expect })
    this.changed()
  }

  use(name: string) {
    this.#activate(this.#current.find(name), { name })
  }

  useDefinition(definition: ScenarioDefinition) {
    this.#activate(compileScenario(definition, INLINE), { name: INLINE, definition })
  }

  checkName(name: string) {
    this.#current.find(name)
  }

  check(value: unknown) {
    return checkScenario(value, this.#library)
  }

  /** Throws if a client cannot have these pushed rules and this scenario together. */
  checkRuleLimits(rules: readonly RuleDefinition[], choice: Choice = this.#current.choice) {
    checkRuleLimits(rules, this.#library.ownLayersOf(this.#current.compile(choice)))
  }

  /** Checks the scenarios that a new client brings. */
  checkOwn(values: Readonly<Record<string, unknown>>) {
    return checkScenarios(values, this.#library)
  }

  push(definition: RuleDefinition) {
    this.checkRuleLimits([definition, ...this.#pushed.definitions()])
    const row = this.#pushed.push(definition)
    this.changed()
    return row
  }

  removeRule(id: string) {
    this.#pushed.remove(id)
    this.changed()
  }

  /** The pushed rules with their hits, in the order in which they are checked. */
  pushed() {
    return this.#pushed.describe()
  }

  /** Activates the start scenario and removes all pushed rules and counters. */
  reset = (now?: number) => {
    this.#pushed.clear()
    this.#counters.remove()
    this.#current.reset(now)
    this.reload()
  }

  /** Captures scenario, rules, counters and timeline, and returns the function that restores them after a reset of only the data. */
  capture() {
    const { store } = this.#deps
    const { rules, counters, settings } = store.tables
    const before = {
      rules: [...rules.rows()],
      counters: [...counters.rows()],
      setting: settings.get('scenario'),
      timeline: entryTimers(store),
    }
    return () => {
      // The start rows can be those of a state.
      for (const { rule_id } of [...rules.rows()]) store.remove('rules', rule_id)
      for (const { name } of [...counters.rows()]) store.remove('counters', name)
      for (const { timer_id } of entryTimers(store)) store.remove('timers', timer_id)
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

  statementRules() {
    const layers = new Set([...this.#imposedLayers(), ...this.#current.layers()])
    return [...layers].flatMap(({ statement }) => statement)
  }

  /** The timeline entries of the active scenario and of those that it extends, but not of the imposed one. */
  timelineEntries() {
    const imposed = this.#deps.imposed()
    const own = this.#current.layers().filter((layer) => !imposed.includes(layer))
    return own.flatMap(({ timeline }) => timeline)
  }

  list() {
    const library = this.#library
    return library.names.map((name) => {
      const { title = null, description = null } = library.get(name)!.definition
      const file = library.fileOf(name) ?? null
      return { name, title, description, file, active: this.name === name }
    })
  }

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

  /** The active scenario with the hits of its rules, its expectations, and unmet expectations of previous scenarios. */
  describe() {
    const { definition } = this.#current.choice
    const scenario = this.#current.compile()
    const { previous } = this.#expectations
    const imposed = this.#imposedLayers()
    // With the scenarios that it extends, but without the default one, whose magic values are listed elsewhere.
    const layers = [...new Set([...imposed, ...this.#library.ownLayersOf(scenario)])]
    return {
      ...describeScenario(scenario, layers, this.#counters.hitsOf, this.#expectations.of(scenario)),
      ...(imposed.length > 0 && imposed[0] !== scenario && { imposed: imposed[0]!.name }),
      ...(definition && { definition }),
      ...(previous.length > 0 && { previous }),
    }
  }
}
