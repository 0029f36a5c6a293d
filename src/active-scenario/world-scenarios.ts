import { SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import { compileScenario } from '../scenarios/compile.ts'
import type { CompiledRule, CompiledScenario } from '../scenarios/compiled.ts'
import { type Counter, createDecider, type Decider } from '../scenarios/decide.ts'
import { type Library, loadReader } from '../scenarios/library.ts'
import { magicValuesOf } from '../scenarios/magic-values.ts'
import type { RuleCall, RuleEvent } from '../scenarios/match.ts'
import type { Problem } from '../scenarios/read.ts'
import { DEFAULT_SCENARIO } from '../scenarios/references.ts'
import { counterName } from '../scenarios/rule-ids.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'
import type { ScenarioDefinition } from '../scenarios/scenario-schema.ts'
import type { OperationId } from '../scenarios/words.ts'
import type { ActiveScenario, PushedRuleRow } from '../tables/rows.ts'
import type { WorldContext } from '../tables/world-context.ts'

/** The kind of the timers of timeline entries. */
export const TIMELINE_ENTRY = 'timeline.entry'

/** The name of a scenario that has a definition and is not in the library. */
const INLINE = 'inline'

/** Whether a rule has reached its maximum of hits; a rule with a `key` never has, since a new key can follow. */
const isUsedUp = ({ keyOf, times, thenOn, turns }: CompiledRule, hits: number): boolean =>
  !keyOf && hits >= (thenOn === 'pass' ? Math.min(times, turns.length) : times)

/** The error of an invalid scenario or rule at `root` of a body. */
const invalidDefinition = ([first, ...more]: readonly Problem[], root: '' | 'definition') => {
  const fieldOf = ({ path }: Problem) => [root, path].filter(Boolean).join('.') || 'body'
  return new SandboxError(
    'validation_failed',
    `The ${root ? 'scenario' : 'rule'} is invalid: ${fieldOf(first!)}: ${first!.message}`,
    {
      errors: [first!, ...more].map((problem) => ({
        field: fieldOf(problem),
        code: 'invalid_value',
        message: problem.message,
      })),
    },
  )
}

/** A valid definition, and warnings about what is allowed but looks like a mistake. */
export type Checked<T> = { definition: T; warnings: string[] }

const warningTexts = (warnings: readonly Problem[]) =>
  warnings.map(({ path, message }) => (path ? `${path}: ${message}` : message))

/** The expected and the counted calls of one operation. */
export type Expectation = {
  operation: OperationId
  at_least?: number
  at_most?: number
  found: number
  met: boolean
}

/** A previous scenario and its expectations that were not met when another one became active. */
export type PreviousScenario = { name: string; expect: Expectation[] }

// Definitions have no names, so a long run can produce any number of them.
const MAX_PREVIOUS = 100

export type ScenariosDeps = WorldContext & {
  library: () => Library
  startScenario: string
  /** Called with the active scenario's name when scenario, rules or library have changed. */
  onChanged: (name: string) => void
}

/** Decides about the calls of one client, by header, pushed rules, active scenario and default (scenarios: Promises). */
export function createScenarios(parts: ScenariosDeps) {
  const { store, random, library, startScenario, onChanged } = parts
  const { rules, counters, settings } = store.tables
  // Compiled once for each state of the pushed rules and the active scenario.
  let cachedDecider: { version: number; decider: Decider } | undefined
  let version = 0
  // Calls since the activation of the scenario or the last restart.
  const calls = new Map<OperationId, number>()
  // By name, or by the definition of one without; the newest last.
  const previous = new Map<string, PreviousScenario>()

  const active = (): ActiveScenario => {
    const setting = settings.get('scenario')
    return setting?.name === 'scenario' && setting.value.startedAs === startScenario
      ? setting.value
      : { name: startScenario, startedAs: startScenario }
  }

  function getScenario(name: string): CompiledScenario {
    const found = library().get(name)
    if (found) return found
    const message = library().unknown(name)
    throw new SandboxError(
      'not_found',
      `${message[0]!.toUpperCase()}${message.slice(1)}${message.endsWith('?') ? '' : '.'}`,
    )
  }

  function activeScenario(): CompiledScenario {
    const { name, definition } = active()
    return definition ? compileScenario(definition, name) : getScenario(name)
  }

  const pushedRows = (): PushedRuleRow[] => [...rules.rows()].sort((a, b) => b.seq - a.seq)

  /** The pushed rules, newest first. */
  const pushed = (): CompiledScenario[] =>
    pushedRows().map(({ rule_id, definition }) =>
      compileScenario({ rules: [definition] }, `rule:${rule_id}`),
    )

  const counterStore = {
    get: (name: string): Counter | undefined => counters.get(name),
    set: (name: string, { matched, hits }: Counter) =>
      void store.put('counters', { name, matched, hits }),
  }

  const layers = () => [...pushed(), ...library().layersOf(activeScenario())]
  const deciderOf = (layers: readonly CompiledScenario[]) =>
    createDecider({ layers, counters: counterStore, chance: random.at })

  function decider(header?: string): Decider {
    if (header !== undefined) {
      // The default scenario is the last layer anyway; it is first only if the call names it.
      const first = library()
        .layersOf(getScenario(header))
        .filter(({ name }) => name !== DEFAULT_SCENARIO || header === DEFAULT_SCENARIO)
      return deciderOf([...first, ...layers()])
    }
    if (cachedDecider?.version !== version)
      cachedDecider = { version, decider: deciderOf(layers()) }
    return cachedDecider.decider
  }

  /** Invalidates the compiled rules: a rule, the scenario or the library has changed. */
  const changed = () => {
    version++
    onChanged(active().name)
  }

  const hitsOf = (rule: { scenario: string; id: string }): number => {
    const name = counterName(rule)
    let hits = 0
    for (const row of counters.rows())
      if (row.name === name || row.name.startsWith(`${name}\n`)) hits += row.hits
    return hits
  }

  const visibleLayers = (scenario: CompiledScenario) =>
    library()
      .layersOf(scenario)
      .filter(({ name }) => name !== DEFAULT_SCENARIO || name === scenario.name)
  const hitCount = (rule: { scenario: string; id: string; name: string }) => ({
    name: rule.name,
    // Only a rule of another scenario shows its scenario.
    ...(rule.scenario !== active().name && { scenario: rule.scenario }),
    hits: hitsOf(rule),
  })

  function removeCounters(prefix: string) {
    for (const { name } of [...counters.rows()])
      if (name.startsWith(prefix)) store.remove('counters', name)
  }

  /** Resets the counters of a scenario and of those that it extends. */
  function removeLayerCounters(scenario: CompiledScenario) {
    for (const { name } of library().layersOf(scenario)) removeCounters(`${name}#`)
  }

  const expected = ({ expect }: CompiledScenario): Expectation[] =>
    [...expect].map(
      ([operation, { exactly, at_least: atLeast = exactly, at_most: atMost = exactly }]) => {
        const found = calls.get(operation) ?? 0
        const met = found >= (atLeast ?? 0) && found <= (atMost ?? Number.POSITIVE_INFINITY)
        return {
          operation,
          ...(atLeast !== undefined && { at_least: atLeast }),
          ...(atMost !== undefined && { at_most: atMost }),
          found,
          met,
        }
      },
    )

  const keyOf = ({ name, definition }: Pick<ActiveScenario, 'name' | 'definition'>) =>
    definition ? JSON.stringify(definition) : name

  /** Activates a scenario, resets its counters, and stores the unmet expectations of the previous one. */
  function activate(scenario: CompiledScenario, next: Pick<ActiveScenario, 'name' | 'definition'>) {
    const before = active()
    // The file of the previous scenario may be deleted.
    const isThere = before.definition !== undefined || library().names.includes(before.name)
    const unmet = isThere ? expected(activeScenario()).filter(({ met }) => !met) : []
    store.change(() => {
      removeLayerCounters(scenario)
      store.put('settings', { name: 'scenario', value: { ...next, startedAs: startScenario } })
    })
    if (unmet.length > 0) previous.set(keyOf(before), { name: before.name, expect: unmet })
    previous.delete(keyOf(next))
    const [oldest] = previous.keys()
    if (previous.size > MAX_PREVIOUS) previous.delete(oldest!)
    calls.clear()
    changed()
  }

  function resetCounts() {
    calls.clear()
    previous.clear()
    changed()
  }

  /** Loads the function that checks one rule given as JSON. */
  async function createRuleCheck() {
    const { readRule } = await loadReader()
    return (value: unknown): Checked<RuleDefinition> => {
      const read = readRule(value)
      if (!read.ok) throw invalidDefinition(read.problems, '')
      return { definition: read.rule, warnings: warningTexts(read.warnings) }
    }
  }

  return {
    changed,
    /** All scenarios of the library. */
    list: () =>
      library().names.map((name) => {
        const { title = null, description = null } = library().get(name)!
        return {
          name,
          title,
          description,
          file: library().fileOf(name) ?? null,
          active: active().name === name,
        }
      }),
    /** The name of the active scenario. */
    get name() {
      return active().name
    },
    /** The definition of a scenario, its file, if it has one, and its rules with their hits. */
    textOf(name: string) {
      const scenario = active().name === name ? activeScenario() : getScenario(name)
      const counted = (rules: CompiledScenario['rules'] | CompiledScenario['webhooks']) =>
        rules.map((rule) => ({ name: rule.name, hits: hitsOf(rule) }))
      return {
        definition: scenario.definition,
        file: library().fileOf(name),
        source: library().sourceOf(name),
        rules: counted(scenario.rules),
        webhooks: counted(scenario.webhooks),
      }
    },
    /** The magic values of the default scenario. */
    magicValues: () => magicValuesOf(getScenario(DEFAULT_SCENARIO)),
    /** Decides about a call, and counts the hits of the deciding rules before anything else happens. */
    decide: (call: RuleCall, header?: string) => store.change(() => decider(header).decide(call)),
    /** Decides about an outgoing event, and counts the hit of the rule. */
    decideWebhook: (event: RuleEvent) => store.change(() => decider().decideWebhook(event)),
    /** Counts a call for `expect`. */
    countCall(operation: OperationId) {
      calls.set(operation, (calls.get(operation) ?? 0) + 1)
    },
    /** The timeline entries of the active scenario and of those that it extends. */
    timeline: () =>
      library()
        .layersOf(activeScenario())
        .flatMap(({ timeline }) => timeline),
    /**
     * Whether the start scenario must be activated: the world is new, `--scenario` has changed, or the active scenario is
     * no longer in the library.
     */
    get isStale() {
      const setting = settings.get('scenario')
      if (setting?.name !== 'scenario' || setting.value.startedAs !== startScenario) return true
      const { name, definition } = setting.value
      return definition === undefined && !library().names.includes(name)
    },
    /** The active scenario with the hits of its rules, its expectations, and unmet expectations of previous scenarios. */
    describe() {
      const { name, definition } = active()
      const scenario = activeScenario()
      return {
        name,
        title: scenario.title ?? null,
        ...(definition && { definition }),
        // With the scenarios that it extends, but without the default one, whose magic values are listed elsewhere.
        rules: visibleLayers(scenario).flatMap(({ rules: theirs }) => theirs.map(hitCount)),
        webhooks: visibleLayers(scenario).flatMap(({ webhooks }) => webhooks.map(hitCount)),
        expect: expected(scenario),
        ...(previous.size > 0 && { previous: [...previous.values()] }),
      }
    },
    /** Activates a scenario by its name and resets its counters and those of the scenarios that it extends. */
    use: (name: string) => activate(getScenario(name), { name }),
    /** Checks a scenario given as JSON. */
    async check(value: unknown): Promise<Checked<ScenarioDefinition>> {
      const { readDefinition } = await loadReader()
      const read = readDefinition(value, { name: INLINE, file: 'definition' })
      if (!read.ok) throw invalidDefinition(read.problems, 'definition')
      const [unknown] = library().checkNames(read.scenario)
      if (unknown) {
        throw new SandboxError('validation_failed', `The scenario is invalid: ${unknown.message}.`)
      }
      return { definition: read.scenario.definition, warnings: warningTexts(read.warnings) }
    },
    /** Checks a rule given as JSON. */
    checkRule: async (value: unknown): Promise<Checked<RuleDefinition>> =>
      (await createRuleCheck())(value),
    createRuleCheck,
    /** Activates a checked definition and resets its counters. */
    useDefinition: (definition: ScenarioDefinition) =>
      activate(compileScenario(definition, INLINE), { name: INLINE, definition }),
    /** Adds a checked rule before all others. */
    push(definition: RuleDefinition): PushedRuleRow {
      const row = store.change(() => {
        // After a reset of only the data the series restarts, and the retained rules already have its first numbers.
        const seq = Math.max(random.next(), (pushedRows()[0]?.seq ?? 0) + 1)
        return store.put('rules', { rule_id: `rul_${seq}`, seq, definition }).row
      })
      changed()
      return row
    },
    /** Activates the start scenario and removes all pushed rules and counters. */
    reset() {
      for (const { rule_id } of pushedRows()) store.remove('rules', rule_id)
      removeCounters('')
      store.put('settings', {
        name: 'scenario',
        value: { name: startScenario, startedAs: startScenario },
      })
      resetCounts()
    },
    /** Drops compiled rules and counts after the stored tables were replaced. */
    reload: resetCounts,
    /** Throws `not_found` if no scenario has this name. */
    checkName: (name: string) => void getScenario(name),
    /** Captures scenario, rules, counters and timeline, and returns the function that restores them after a reset of only the data. */
    capture() {
      const before = {
        rules: [...rules.rows()],
        counters: [...counters.rows()],
        setting: settings.get('scenario'),
        timeline: [...store.tables.timers.rows()]
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
        changed()
      }
    },
    /** Removes a pushed rule. */
    removeRule(id: string) {
      if (!rules.get(id))
        throw new SandboxError('not_found', `No rule ${quoteInput(id)} was pushed for this client.`)
      store.change(() => {
        store.remove('rules', id)
        removeCounters(`rule:${id}#`)
      })
      changed()
    },
    /** The pushed rules with their hits, in the order in which they are checked. */
    pushed: () =>
      pushedRows().map(({ rule_id, definition }) => {
        const [rule] = compileScenario({ rules: [definition] }, `rule:${rule_id}`).rules
        const hits = hitsOf(rule!)
        return { rule_id, hits, used_up: isUsedUp(rule!, hits), definition }
      }),
  }
}

export type Scenarios = ReturnType<typeof createScenarios>
