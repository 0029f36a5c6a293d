import { SandboxError } from '../model/errors.ts'
import { compileScenario } from '../scenarios/compile.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Library } from '../scenarios/library.ts'
import { DEFAULT_SCENARIO } from '../scenarios/references.ts'
import type { ActiveScenario } from '../tables/rows.ts'
import type { SandboxTables } from '../tables/tables.ts'

/** Which scenario is active: a name of the library or a definition, as stored. */
export type Choice = Pick<ActiveScenario, 'name' | 'definition'>

/** The stored choice of the active scenario, and the scenarios of the library that it refers to. */
export class CurrentScenario {
  readonly #store: SandboxTables
  readonly #library: () => Library
  readonly #start: string

  constructor(store: SandboxTables, library: () => Library, start: string) {
    this.#store = store
    this.#library = library
    this.#start = start
  }

  get #setting(): ActiveScenario | undefined {
    const setting = this.#store.tables.settings.get('scenario')
    return setting?.name === 'scenario' && setting.value.startedAs === this.#start
      ? setting.value
      : undefined
  }

  /** The active scenario; the start scenario if none was chosen since `--scenario` changed. */
  get choice(): Choice {
    return this.#setting ?? { name: this.#start }
  }

  /** Whether the start scenario must be activated: none was chosen, or the library does not have the chosen one any more. */
  get isStale(): boolean {
    return this.#setting === undefined || !this.exists
  }

  /** Whether the active scenario can be compiled: its file may be deleted. */
  get exists(): boolean {
    return this.canCompile(this.choice)
  }

  canCompile({ name, definition }: Choice): boolean {
    return definition !== undefined || this.#library().names.includes(name)
  }

  set(choice: Choice) {
    const value = { ...choice, startedAs: this.#start }
    this.#store.put('settings', { name: 'scenario', value })
  }

  /** Chooses the start scenario. */
  reset() {
    this.set({ name: this.#start })
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

  /** Returns the layers of a scenario without the default one, unless it is that scenario. */
  ownLayersOf(scenario: CompiledScenario): CompiledScenario[] {
    return this.#library()
      .layersOf(scenario)
      .filter(({ name }) => name !== DEFAULT_SCENARIO || name === scenario.name)
  }
}
