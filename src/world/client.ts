import { canCompile } from '../active-scenario/current-scenario.ts'
import type { Library } from '../scenarios/library.ts'
import type { SandboxTables } from '../tables/tables.ts'
import { Clock } from '../time/clock.ts'
import { storedClock, storedScenario } from './start-options.ts'
import type { World } from './world.ts'

/** A client: its rows, and its world, which is made when it is first used, because most of a thousand clients may do nothing. */
export class Client {
  readonly tables: SandboxTables
  /** Counts the clients of this process. */
  readonly number: number
  /** The token that finds the client. */
  token: string | undefined
  readonly #makeWorld: (client: Client) => World
  #world: World | undefined

  constructor(tables: SandboxTables, number: number, makeWorld: (client: Client) => World) {
    this.tables = tables
    this.number = number
    this.#makeWorld = makeWorld
  }

  get name(): string {
    return this.tables.name
  }

  get profile() {
    return this.tables.tables.client.newest('all', 'all')!.row
  }

  get world(): World {
    this.#world ??= this.#makeWorld(this)
    return this.#world
  }

  /** The world, if it was made. */
  get worldInUse(): World | undefined {
    return this.#world
  }

  /** Deletes all rows of the client, and ends its world. */
  drop() {
    this.tables.drop()
    this.#world?.stop()
    this.#world?.delayed.rejectAll()
  }

  /** Whether a library has the active scenario. */
  hasScenario(library: Library): boolean {
    return canCompile(library, storedScenario(this.tables)!)
  }

  /** The client in a list, which makes no world. `wall` drives its clock. */
  summary(wall: () => number) {
    const { client_id, status, check_kyc } = this.profile
    const clock = this.#world?.clock ?? new Clock(storedClock(this.tables)!, wall)
    return {
      name: this.name,
      client_id,
      status,
      check_kyc,
      scenario: storedScenario(this.tables)!.name,
      now: clock.iso(),
      snapshots: this.tables.snapshots.size,
    }
  }
}
