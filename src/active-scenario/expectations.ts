import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { OperationId } from '../scenarios/operations-and-events.ts'

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
