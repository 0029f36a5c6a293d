import { ClientName } from '../model/client-names.ts'
import { SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import type { Library } from '../scenarios/library.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { Client } from './client.ts'
import { DEFAULT_CLIENT, type NewClient } from './client-rows.ts'
import type { World } from './world.ts'

export type ClientLimits = { maxClients: number; autoClients: boolean }

/** The clients of a sandbox, by name and by access token. */
export class ClientRegistry {
  readonly #limits: ClientLimits
  readonly #clients = new Map<string, Client>()
  readonly #byToken = new Map<string, Client>()

  constructor(limits: ClientLimits) {
    this.#limits = limits
  }

  get all(): ReadonlyMap<string, Client> {
    return this.#clients
  }

  /** The worlds that were made. */
  *worldsInUse(): Generator<World> {
    for (const { worldInUse } of this.#clients.values()) if (worldInUse) yield worldInUse
  }

  /** Makes the worlds of the clients whose active scenario is not in their new library: they activate another one. */
  makeWorldsWithout(libraryOf: (tables: SandboxTables) => Library) {
    for (const client of this.#clients.values())
      if (!client.hasScenario(libraryOf(client.tables))) void client.world
  }

  /** All clients in a list. `wall` drives their clocks. */
  summaries(wall: () => number) {
    return Array.from(this.#clients.values(), (client) => client.summary(wall))
  }

  /** The client that calls without a client name use. */
  get default(): Client {
    return this.#clients.get(DEFAULT_CLIENT)!
  }

  /** Returns a client; throws `not_found`. */
  get(name: string): Client {
    const client = this.#clients.get(name)
    if (client) return client
    throw new SandboxError('not_found', `There is no client ${quoteInput(name)}.`)
  }

  byToken(token: string): Client | undefined {
    return this.#byToken.get(token)
  }

  add(client: Client) {
    this.#clients.set(client.name, client)
    this.updateToken(client.name)
  }

  remove(client: Client) {
    this.#clients.delete(client.name)
    this.#releaseToken(client)
  }

  #releaseToken(client: Client) {
    const { token } = client
    if (token !== undefined && this.#byToken.get(token) === client) this.#byToken.delete(token)
  }

  /** Maps the present token of a client to it, and removes an earlier one. */
  updateToken(name: string) {
    const client = this.#clients.get(name)
    // A client that is being created is added at the end.
    if (!client) return
    const token = client.profile.access_token
    if (client.token !== token) this.#releaseToken(client)
    client.token = token
    if (this.#byToken.get(token)?.profile.access_token !== token) this.#byToken.set(token, client)
  }

  #checkLimit() {
    const { size } = this.#clients
    if (size < this.#limits.maxClients) return
    throw new SandboxError(
      'client_limit_reached',
      `There are already ${size} clients, the maximum. Delete one, or raise --max-clients. If the heap is small, give the process more memory.`,
    )
  }

  /** Throws if no client can be created for a name in a base path. */
  checkName(name: string) {
    if (!ClientName.safeParse(name).success) {
      throw new SandboxError(
        'not_found',
        'There is no such client. A client name has 1 to 63 characters (a-z, 0-9 and -) and does not start with -.',
      )
    }
    if (!this.#limits.autoClients) {
      throw new SandboxError(
        'not_found',
        `There is no client ${quoteInput(name)}, and --no-auto-clients prevents that a call creates it.`,
      )
    }
    this.#checkLimit()
  }

  /** Throws if a call cannot create this client. */
  checkNew({ name, access_token: token, scenario, scenarios = {} }: NewClient) {
    if (this.#clients.has(name)) {
      throw new SandboxError(
        'client_exists',
        `The client ${name} already exists. Delete it first, or choose another name.`,
      )
    }
    this.#checkLimit()
    if (scenario !== undefined && !Object.hasOwn(scenarios, scenario))
      this.default.world.scenarios.checkName(scenario)
    if (token === undefined) return
    const reserved = /^sbx_([a-z0-9][a-z0-9-]{0,62})$/.exec(token)?.[1]
    if (this.#byToken.has(token) || (reserved !== undefined && reserved !== name)) {
      throw new SandboxError(
        'token_in_use',
        'The access_token belongs to another client or is reserved for one. Choose another token, or omit access_token.',
      )
    }
  }
}
