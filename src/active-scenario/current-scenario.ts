import { SandboxError } from '../model/errors.ts'
import { compileScenario } from '../scenarios/compile.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Library } from '../scenarios/library.ts'
import type { OperationId } from '../scenarios/operations-and-events.ts'
import type { ActiveScenario } from '../tables/rows.ts'
import { type SandboxTables, settingOf } from '../tables/tables.ts'
import type { Clock } from '../time/clock.ts'

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

/** The calls since the activation of the scenario or the last restart, and what previous scenarios still expected. */
export class Expectations {
  readonly #calls = new Map<OperationId, number>()
  // By name, or by the definition of a scenario without one; the newest last.
  readonly #previous = new Map<string, PreviousScenario>()

  count(operation: OperationId) {
    this.#calls.set(operation, (this.#calls.get(operation) ?? 0) + 1)
  }

  of({ expect }: CompiledScenario): Expectation[] {
    return [...expect].map(
      ([operation, { exactly, at_least: atLeast = exactly, at_most: atMost = exactly }]) => {
        const found = this.#calls.get(operation) ?? 0
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
  }

  get previous(): PreviousScenario[] {
    return [...this.#previous.values()]
  }

  /** Starts to count for the scenario `next`. `left` is the previous one: its key and its expectations. */
  activated(next: string, left: { key: string; name: string; expect: Expectation[] }) {
    const unmet = left.expect.filter(({ met }) => !met)
    if (unmet.length > 0) this.#previous.set(left.key, { name: left.name, expect: unmet })
    this.#previous.delete(next)
    const [oldest] = this.#previous.keys()
    if (this.#previous.size > MAX_PREVIOUS) this.#previous.delete(oldest!)
    this.#calls.clear()
  }

  clear() {
    this.#calls.clear()
    this.#previous.clear()
  }
}

/** Which scenario is active: a name of the library or a definition, as stored. */
export type Choice = Pick<ActiveScenario, 'name' | 'definition'>

/** The scenario with which a client starts, and the one of the sandbox, which exists, if the file of the first was deleted. */
export type StartScenario = { scenario: string; fallbackScenario: string }

/** Whether a library has the scenario of a choice, or the one that its definition extends: a file may be deleted. */
export const canCompile = ({ names }: Library, { name, definition }: Choice): boolean => {
  const needed = definition ? definition.extends : name
  return needed === undefined || names.includes(needed)
}

/** The stored choice of the active scenario, and the scenarios of the library that it refers to. */
export function createCurrentScenario(
  store: SandboxTables,
  library: () => Library,
  start: StartScenario,
  clock: Pick<Clock, 'now'>,
) {
  function stored(): ActiveScenario | undefined {
    const setting = settingOf(store.tables.settings, 'scenario')
    const { startedAs } = setting ?? {}
    const isOfStart = startedAs === start.scenario || startedAs === startChoice().name
    return isOfStart ? setting : undefined
  }

  /** The scenario that a start or a reset activates. */
  function startChoice(): Choice {
    const choice = { name: start.scenario }
    return canCompile(library(), choice) ? choice : { name: start.fallbackScenario }
  }

  const current = {
    /** The active scenario; the start scenario if none was chosen since `--scenario` changed. */
    get choice(): Choice {
      return stored() ?? startChoice()
    },
    /** Whether the start scenario must be activated: none was chosen, or the chosen one is no longer in the library. */
    get isStale(): boolean {
      return stored() === undefined || !current.exists
    },
    /** Whether the active scenario can be compiled: its file may be deleted. */
    get exists(): boolean {
      return canCompile(library(), current.choice)
    },
    set(choice: Choice, startedAs: string = start.scenario, now = clock.now()) {
      const activated_at = new Date(now).toISOString()
      store.put('settings', { name: 'scenario', value: { ...choice, activated_at, startedAs } })
    },
    /** When the active scenario was activated, client's time in ms. */
    get activatedAt(): number {
      const at = stored()?.activated_at
      return at === undefined ? clock.now() : Date.parse(at)
    },
    /** Activates the start scenario; if it doesn't exist, the fallback, until the start scenario exists again. */
    reset(now?: number) {
      const choice = startChoice()
      current.set(choice, choice.name, now)
    },
    find(name: string): CompiledScenario {
      const found = library().get(name)
      if (found) return found
      const message = library().unknown(name)
      throw new SandboxError(
        'not_found',
        `${message[0]!.toUpperCase()}${message.slice(1)}${message.endsWith('?') ? '' : '.'}`,
      )
    },
    /** Returns the scenario of a choice (default: the active one). */
    compile(choice?: Choice): CompiledScenario {
      const { name, definition } = choice ?? current.choice
      return definition ? compileScenario(definition, name) : current.find(name)
    },
    /** Returns the active scenario, those that it extends, and the default one. */
    layers: (): readonly CompiledScenario[] => library().layersOf(current.compile()),
  }
  return current
}

type CountedRule = { scenario: string; id: string; name: string }

/** A scenario with the hits of the rules of these layers, and its expectations. */
export function describeScenario(
  { name, definition }: CompiledScenario,
  layers: readonly CompiledScenario[],
  hitsOf: (rule: CountedRule) => number,
  expect: Expectation[],
) {
  const hitCount = (rule: CountedRule) => ({
    name: rule.name,
    // Only a rule of another scenario shows its scenario.
    ...(rule.scenario !== name && { scenario: rule.scenario }),
    hits: hitsOf(rule),
  })
  return {
    name,
    title: definition.title ?? null,
    rules: layers.flatMap(({ rules }) => rules.map(hitCount)),
    webhooks: layers.flatMap(({ webhooks }) => webhooks.map(hitCount)),
    expect,
  }
}
