import { SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import { compileScenario } from '../scenarios/compile.ts'
import type { CompiledRule, CompiledScenario } from '../scenarios/compiled.ts'
import { type Counter, counterName, createDecider, type Decider } from '../scenarios/decide.ts'
import { DEFAULT_SCENARIO, type Library } from '../scenarios/library.ts'
import { magicValuesOf } from '../scenarios/magic-values.ts'
import type { Call, EventCall } from '../scenarios/match.ts'
import type { Problem } from '../scenarios/read.ts'
import { loadReader } from '../scenarios/reader.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'
import type { ScenarioDefinition } from '../scenarios/schema.ts'
import type { OperationId } from '../scenarios/words.ts'
import type { WorldContext } from './world-context.ts'

/** The kind of timer that an entry of a timeline is. */
export const TIMELINE_ENTRY = 'timeline.entry'

/** The name of a scenario that was given by its definition and not by a name of the library. */
const INLINE = 'inline'

/** A rule in front of the scenario, as stored. */
export type PushedRuleRow = { rule_id: string; seq: number; definition: RuleDefinition }

/** How often a rule matched and acted, as stored. */
export type CounterRow = Counter & { name: string }

/** The active scenario, as stored: a name of the library, or a definition. */
export type ActiveScenario = { name: string; definition?: ScenarioDefinition; startedAs: string }

/** Whether a rule has acted as often as it may; one with a `key` always has keys that it has not met. */
const isUsedUp = ({ keyOf, times, thenOn, turns }: CompiledRule, hits: number): boolean =>
  !keyOf && hits >= (thenOn === 'pass' ? Math.min(times, turns.length) : times)

/** A refusal of what came as JSON at `root` of a body. */
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

/** What was read from JSON, and what is allowed but looks like a mistake. */
export type Checked<T> = { definition: T; warnings: string[] }

const warningTexts = (warnings: readonly Problem[]) =>
  warnings.map(({ path, message }) => (path ? `${path}: ${message}` : message))

/** What a scenario expects of one operation, and what was found. */
export type Expectation = {
  operation: OperationId
  atLeast?: number
  atMost?: number
  found: number
  met: boolean
}

/** A scenario that was active, and what it had expected and not found when another took its place. */
export type PreviousScenario = { name: string; expect: Expectation[] }

// Definitions have no names, so that a long run may leave any number of them.
const MAX_PREVIOUS = 100

export type ScenariosDeps = WorldContext & {
  library: () => Library
  startScenario: string
  /** Told the active scenario's name when what decides is another than before. */
  onChanged: (name: string) => void
}

/** What decides about the calls of one client: header, pushed rules, active scenario, default (scenarios: Promises). */
export function createScenarios(parts: ScenariosDeps) {
  const { store, random, library, startScenario, onChanged } = parts
  const { rules, counters, settings } = store.tables
  // Compiled once for each state of the pushed rules and the active scenario.
  let cachedDecider: { version: number; decider: Decider } | undefined
  let version = 0
  // Calls since the scenario was activated; a restart counts anew.
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

  /** The newest pushed rule comes first: it is the one that a test has just asked for. */
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
      // The default scenario lies at the bottom anyway; on top only where the call names it.
      const first = library()
        .layersOf(getScenario(header))
        .filter(({ name }) => name !== DEFAULT_SCENARIO || header === DEFAULT_SCENARIO)
      return deciderOf([...first, ...layers()])
    }
    if (cachedDecider?.version !== version)
      cachedDecider = { version, decider: deciderOf(layers()) }
    return cachedDecider.decider
  }

  /** What is compiled is stale: a rule, the scenario or the library changed. */
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
    // Only what another scenario brings says whose it is.
    ...(rule.scenario !== active().name && { scenario: rule.scenario }),
    hits: hitsOf(rule),
  })

  function removeCounters(prefix: string) {
    for (const { name } of [...counters.rows()])
      if (name.startsWith(prefix)) store.remove('counters', name)
  }

  /** Counters start anew: the scenario's own and those of what it extends. */
  function removeLayerCounters(scenario: CompiledScenario) {
    for (const { name } of library().layersOf(scenario)) removeCounters(`${name}#`)
  }

  const expected = ({ expect }: CompiledScenario): Expectation[] =>
    [...expect].map(([operation, { exactly, atLeast = exactly, atMost = exactly }]) => {
      const found = calls.get(operation) ?? 0
      const met = found >= (atLeast ?? 0) && found <= (atMost ?? Number.POSITIVE_INFINITY)
      return {
        operation,
        ...(atLeast !== undefined && { atLeast }),
        ...(atMost !== undefined && { atMost }),
        found,
        met,
      }
    })

  const keyOf = ({ name, definition }: Pick<ActiveScenario, 'name' | 'definition'>) =>
    definition ? JSON.stringify(definition) : name

  /** Makes a scenario the active one: it counts anew, and what the one before had not found is kept. */
  function activate(scenario: CompiledScenario, next: Pick<ActiveScenario, 'name' | 'definition'>) {
    const before = active()
    // The file of the one before may be gone.
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

  /** What checks rules that come as JSON, one after the other. */
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
    /** The scenarios that can be used. */
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
    /** The name of the active one. */
    get name() {
      return active().name
    },
    /** A scenario as it decides, the file that it was read from, if any, and its rules with their hits. */
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
    /** The values that the default scenario gives a meaning. */
    magicValues: () => magicValuesOf(getScenario(DEFAULT_SCENARIO)),
    /** Decides about a call, and spends the rules that decide it before anything else happens. */
    decide: (call: Call, header?: string) => store.change(() => decider(header).decide(call)),
    /** Decides about an event on its way out, and spends the rule. */
    decideWebhook: (event: EventCall) => store.change(() => decider().decideWebhook(event)),
    /** Counts a call for `expect`. */
    countCall(operation: OperationId) {
      calls.set(operation, (calls.get(operation) ?? 0) + 1)
    },
    /** The entries that run from the activation on, those of extended scenarios too. */
    timeline: () =>
      library()
        .layersOf(activeScenario())
        .flatMap(({ timeline }) => timeline),
    /**
     * Whether the start scenario is yet to be activated: a new world, another `--scenario` than before, or the file of
     * the active one is gone.
     */
    get isStale() {
      const setting = settings.get('scenario')
      if (setting?.name !== 'scenario' || setting.value.startedAs !== startScenario) return true
      const { name, definition } = setting.value
      return definition === undefined && !library().names.includes(name)
    },
    /** The active scenario with each rule's hits, whether what it expects has happened, and who was left without that. */
    describe() {
      const { name, definition } = active()
      const scenario = activeScenario()
      return {
        name,
        title: scenario.title ?? null,
        ...(definition && { definition }),
        // What it extends lies under it; the default lies under all and is told of by its magic values.
        rules: visibleLayers(scenario).flatMap(({ rules: theirs }) => theirs.map(hitCount)),
        webhooks: visibleLayers(scenario).flatMap(({ webhooks }) => webhooks.map(hitCount)),
        expect: expected(scenario),
        ...(previous.size > 0 && { left: [...previous.values()] }),
      }
    },
    /** Activates a scenario by its name; its counters and those of what it extends start anew. */
    use: (name: string) => activate(getScenario(name), { name }),
    /** Checks a scenario that came as JSON. */
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
    /** Checks a rule that came as JSON. */
    checkRule: async (value: unknown): Promise<Checked<RuleDefinition>> =>
      (await createRuleCheck())(value),
    ruleCheck: createRuleCheck,
    /** Activates a scenario that was checked; its counters start anew. */
    useDefinition: (definition: ScenarioDefinition) =>
      activate(compileScenario(definition, INLINE), { name: INLINE, definition }),
    /** Puts a rule that was checked in front of all others. */
    push(definition: RuleDefinition): PushedRuleRow {
      const row = store.change(() => {
        // After a reset of the data alone the series starts anew, and the kept rules have its first numbers.
        const seq = Math.max(random.next(), (pushedRows()[0]?.seq ?? 0) + 1)
        return store.put('rules', { rule_id: `rul_${seq}`, seq, definition }).row
      })
      changed()
      return row
    },
    /** Back to the start scenario, without pushed rules and counts. */
    reset() {
      for (const { rule_id } of pushedRows()) store.remove('rules', rule_id)
      removeCounters('')
      store.put('settings', {
        name: 'scenario',
        value: { name: startScenario, startedAs: startScenario },
      })
      resetCounts()
    },
    /** The stored tables are others now: what was compiled and counted of them is forgotten. */
    reload: resetCounts,
    /** Whether a name can be used, checked before anything is changed. */
    checkName: (name: string) => void getScenario(name),
    /** Takes what `reset` would lose, and returns the verb that puts it back: a reset of the data alone keeps it. */
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
        // By ids and numbers of their own: the series starts again, and none may be drawn of it here.
        for (const [i, row] of before.timeline.entries())
          store.put('timers', { ...row, timer_id: `tml_${i}`, seq: i - before.timeline.length })
        changed()
      }
    },
    /** Takes a pushed rule away again. */
    removeRule(id: string) {
      if (!rules.get(id))
        throw new SandboxError('not_found', `No rule ${quoteInput(id)} was pushed for this client.`)
      store.change(() => {
        store.remove('rules', id)
        removeCounters(`rule:${id}#`)
      })
      changed()
    },
    /** The pushed rules, the one asked first at the top. */
    pushed: () =>
      pushedRows().map(({ rule_id, definition }) => {
        const [rule] = compileScenario({ rules: [definition] }, `rule:${rule_id}`).rules
        const hits = hitsOf(rule!)
        return { rule_id, hits, used_up: isUsedUp(rule!, hits), definition }
      }),
  }
}

export type Scenarios = ReturnType<typeof createScenarios>
