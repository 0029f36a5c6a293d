import type { Assumption } from './assumption.ts'
import { DEFAULT_READINGS, type Readings, valueOfReading } from './readings.ts'

/** The readings in force for one client, as values. */
export class Assumed {
  #values = new Map<object, unknown>()
  #readings: Readings = DEFAULT_READINGS

  /** The reading of every assumption. */
  get readings(): Readings {
    return this.#readings
  }

  /** The value of the reading in force. */
  get<V>(assumption: Assumption<V>): V {
    const known = this.#values.get(assumption)
    if (known !== undefined) return known as V
    const value = valueOfReading(assumption, this.#readings[assumption.name]!) as V
    this.#values.set(assumption, value)
    return value
  }

  /** What `make` derives from the readings in force. */
  derive<V>(make: (assumed: Assumed) => V): V {
    const known = this.#values.get(make)
    if (known !== undefined) return known as V
    const value = make(this)
    this.#values.set(make, value)
    return value
  }

  /** Puts other readings in force; they are valid. A missing one is the default. */
  use(readings: Readings) {
    this.#readings = { ...DEFAULT_READINGS, ...readings }
    this.#values = new Map()
  }
}
