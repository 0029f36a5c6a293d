import { ClientName } from '../model/client.ts'
import { SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import { DEFAULT_CLIENT, type NewClient } from './client-rows.ts'
import type { World } from './world.ts'

const tokenOf = (world: World): string => world.payouts.profile().access_token

/** The worlds of all clients, by name and by access token. */
export class Clients {
  readonly #limits: { maxClients: number; autoClients: boolean }
  readonly #worlds = new Map<string, World>()
  readonly #byToken = new Map<string, World>()

  constructor(limits: { maxClients: number; autoClients: boolean }) {
    this.#limits = limits
  }

  get all(): ReadonlyMap<string, World> {
    return this.#worlds
  }

  get default(): World {
    return this.#worlds.get(DEFAULT_CLIENT)!
  }

  get(name: string): World {
    const world = this.#worlds.get(name)
    if (world) return world
    throw new SandboxError('not_found', `There is no client ${quoteInput(name)}.`)
  }

  byToken(token: string): World | undefined {
    return this.#byToken.get(token)
  }

  add(world: World) {
    this.#worlds.set(world.name, world)
    this.updateToken(world.name)
  }

  remove(world: World) {
    this.#worlds.delete(world.name)
    this.#releaseTokens(world)
  }

  #releaseTokens(world: World) {
    for (const [token, owner] of this.#byToken) if (owner === world) this.#byToken.delete(token)
  }

  /** Maps the present token of a client to it, and removes an earlier one. */
  updateToken(name: string) {
    const world = this.#worlds.get(name)
    // A client that is being created is added at the end.
    if (!world) return
    this.#releaseTokens(world)
    const token = tokenOf(world)
    const owner = this.#byToken.get(token)
    if (!owner || tokenOf(owner) !== token) this.#byToken.set(token, world)
  }

  #checkLimit() {
    const { size } = this.#worlds
    if (size < this.#limits.maxClients) return
    throw new SandboxError(
      'client_limit_reached',
      `There are already ${size} clients, the maximum. Delete one, or raise --max-clients. If the heap is small, give the process more memory.`,
    )
  }

  /** Throws if no client can be created for a name in a base path. */
  checkName(name: string) {
    if (!ClientName.safeParse(name).success)
      throw new SandboxError(
        'not_found',
        'There is no such client. A client name has 1 to 63 characters (a-z, 0-9 and -) and does not start with -.',
      )
    if (!this.#limits.autoClients)
      throw new SandboxError(
        'not_found',
        `There is no client ${quoteInput(name)}, and --no-auto-clients prevents that a call creates it.`,
      )
    this.#checkLimit()
  }

  checkNew({ name, access_token: token, scenario, scenarios = {} }: NewClient) {
    if (this.#worlds.has(name))
      throw new SandboxError(
        'client_exists',
        `The client ${name} already exists. Delete it first, or choose another name.`,
      )
    this.#checkLimit()
    if (scenario !== undefined && !Object.hasOwn(scenarios, scenario))
      this.default.scenarios.checkName(scenario)
    if (token === undefined) return
    const reserved = /^sbx_([a-z0-9][a-z0-9-]{0,62})$/.exec(token)?.[1]
    if (this.#byToken.has(token) || (reserved !== undefined && reserved !== name))
      throw new SandboxError(
        'token_in_use',
        'The access_token belongs to another client or is reserved for one. Choose another token, or omit access_token.',
      )
  }
}
