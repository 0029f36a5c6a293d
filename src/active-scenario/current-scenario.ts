import { SandboxError } from '../model/errors.ts'
import { compileScenario } from '../scenarios/compile.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Library } from '../scenarios/library.ts'
import type { ActiveScenario } from '../tables/rows.ts'
import { type SandboxTables, settingOf } from '../tables/tables.ts'
import type { Clock } from '../time/clock.ts'
import type { Expectation } from './expectations.ts'

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
export class CurrentScenario {
  readonly #store: SandboxTables
  readonly #library: () => Library
  readonly #start: StartScenario
  readonly #clock: Pick<Clock, 'now'>

  constructor(
    store: SandboxTables,
    library: () => Library,
    start: StartScenario,
    clock: Pick<Clock, 'now'>,
  ) {
    this.#clock = clock
    this.#store = store
    this.#library = library
    this.#start = start
  }

  get #setting(): ActiveScenario | undefined {
    const setting = settingOf(this.#store.tables.settings, 'scenario')
    const { startedAs } = setting ?? {}
    const isOfStart = startedAs === this.#start.scenario || startedAs === this.startChoice.name
    return isOfStart ? setting : undefined
  }

  /** The scenario that a start or a reset activates. */
  get startChoice(): Choice {
    const { scenario, fallbackScenario } = this.#start
    const choice = { name: scenario }
    return canCompile(this.#library(), choice) ? choice : { name: fallbackScenario }
  }

  /** The active scenario; the start scenario if none was chosen since `--scenario` changed. */
  get choice(): Choice {
    return this.#setting ?? this.startChoice
  }

  /** Whether the start scenario must be activated: none was chosen, or the library does not have the chosen one any more. */
  get isStale(): boolean {
    return this.#setting === undefined || !this.exists
  }

  /** Whether the active scenario can be compiled: its file may be deleted. */
  get exists(): boolean {
    return canCompile(this.#library(), this.choice)
  }

  set(choice: Choice, startedAs: string = this.#start.scenario, now = this.#clock.now()) {
    const activated_at = new Date(now).toISOString()
    this.#store.put('settings', { name: 'scenario', value: { ...choice, activated_at, startedAs } })
  }

  /** When the active scenario was activated, client's time in ms. */
  get activatedAt(): number {
    const at = this.#setting?.activated_at
    return at === undefined ? this.#clock.now() : Date.parse(at)
  }

  /** Chooses the start scenario. What takes its place is chosen only until it exists again. */
  reset(now?: number) {
    const { startChoice } = this
    this.set(startChoice, startChoice.name, now)
  }

  /** Returns a scenario of the library. Throws `not_found` if no scenario has this name. */
  find(name: string): CompiledScenario {
    const found = this.#library().get(name)
    if (found) return found
    const message = this.#library().unknown(name)
    throw new SandboxError(
      'not_found',
      `${message[0]!.toUpperCase()}${message.slice(1)}${message.endsWith('?') ? '' : '.'}`,
    )
  }

  /** Returns the scenario of a choice (default: the active one). */
  compile({ name, definition }: Choice = this.choice): CompiledScenario {
    return definition ? compileScenario(definition, name) : this.find(name)
  }

  /** Returns the scenario of a choice (default: the active one), those that it extends, and the default one. */
  layers(choice: Choice = this.choice): readonly CompiledScenario[] {
    return this.#library().layersOf(this.compile(choice))
  }
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
