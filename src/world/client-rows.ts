import type { Readings } from '../assumptions/readings.ts'
import type { FixtureWorlds, StartRows } from '../content/fixtures.ts'
import { omitUndefined } from '../model/formats.ts'
import { uuidOf } from '../runtime/random.ts'
import { type Library, type OwnScenarios, withOwn } from '../scenarios/library.ts'
import { DEFAULT_SCENARIO } from '../scenarios/references.ts'
import type { WorldAbout } from '../store/unit-of-work.ts'
import type { Base } from '../store/worlds.ts'
import type { Rows } from '../tables/rows.ts'
import { type SandboxStore, type SandboxTables, settingOf } from '../tables/tables.ts'
import type { ClientStart, WorldStart } from './shared-resources.ts'
import type { World } from './world.ts'
import { adoptSettings, startedAsOf, storeClock } from './world-clock.ts'

export const DEFAULT_CLIENT = 'default'

/** The options of a new client, instead of those of the sandbox. A reset restores them. */
export type NewClient = { [Option in keyof WorldStart]?: WorldStart[Option] | undefined } & {
  name: string
  access_token?: string | undefined
  scenarios?: OwnScenarios | undefined
  checkKyc?: boolean | undefined
  /** Makes the rows of its own fixtures; without them it starts with those of the sandbox. */
  fixtures?: (() => StartRows) | undefined
  /** The client to fork, in its present state or in that of a snapshot. */
  from?: { client: string; snapshot?: string | undefined } | undefined
}

/** The world that a client is forked from, and the name of its snapshot or undefined for its present state. */
type ForkSource = { world: World; snapshot: string | undefined }

/** The stored options of a client that was created by a call. */
type ClientAbout = WorldAbout & {
  readonly start?: Partial<WorldStart>
  readonly checkKyc?: boolean
  readonly scenarios?: OwnScenarios
  /** The client whose fixtures a reset of this fork loads. */
  readonly fixturesOf?: string
  /** If its start rows are those of a state: the position in the random series there. */
  readonly draws?: number
}

const aboutOf = ({ about }: SandboxTables) => about as ClientAbout

/** Whether the start rows of a client are those of a state, so that a reset returns to it. */
export const startsFromState = (tables: SandboxTables) => aboutOf(tables).draws !== undefined

/** Start options with those of a client; its readings replace the others one by one. */
const mergedStart = <S extends Partial<WorldStart>>(start: S, own: Partial<WorldStart> = {}) => ({
  ...start,
  ...own,
  ...((start.assume ?? own.assume) && { assume: { ...start.assume, ...own.assume } }),
})

/** Removes the readings that calls have chosen for these assumptions. */
function removeChanges(tables: SandboxTables, assume: Readings) {
  const called = settingOf(tables.tables.settings, 'assumptions')
  if (!called) return
  const kept = Object.entries(called).filter(([name]) => !Object.hasOwn(assume, name))
  tables.put('settings', { name: 'assumptions', value: Object.fromEntries(kept) })
}

/** Gives a client that is not in the fixtures a profile of its own; its other rows are copies of another client's. */
function writeOwnProfile(tables: SandboxTables, token: string) {
  const { name } = tables
  const { checkKyc } = aboutOf(tables)
  const from = tables.tables.client.newest('all', 'all')!
  const profile = {
    ...from.row,
    client: name,
    client_id: uuidOf(`client ${name}`),
    access_token: token,
    ...(checkKyc !== undefined && { check_kyc: checkKyc }),
  }
  tables.remove('client', from.id)
  tables.put('client', { ...profile, name: `Sandbox client ${name}`, email: `${name}@example.com` })
}

/** The rows with which clients start: those of the fixtures, of a request, or of another client. */
export class ClientRows {
  readonly #store: SandboxStore
  readonly #start: WorldStart
  readonly #wall: () => number
  readonly #bases: ReadonlyMap<string, Base<Rows>>
  readonly #states: ReadonlyMap<string, ClientAbout>
  readonly #libraries = new WeakMap<SandboxTables, { library: Library; all: Library }>()

  constructor(store: SandboxStore, fixtures: FixtureWorlds, start: WorldStart, wall: () => number) {
    this.#store = store
    this.#start = start
    this.#wall = wall
    this.#bases = new Map(
      [...fixtures].map(([name, { key, rows }]) => [name, store.makeBase(key, rows)]),
    )
    for (const base of this.#bases.values()) store.fixtures.set(base.key, base)
    this.#states = new Map(
      [...fixtures].flatMap(([name, { key, state }]) =>
        state ? [[name, { ...state.start, base: key, draws: state.draws }]] : [],
      ),
    )
  }

  startOf(tables: SandboxTables): ClientStart {
    const start = mergedStart(this.#start, aboutOf(tables).start)
    return { ...start, fallbackScenario: this.#start.scenario }
  }

  libraryOf(tables: SandboxTables, library: Library): Library {
    const { scenarios } = aboutOf(tables)
    if (!scenarios) return library
    const known = this.#libraries.get(tables)
    if (known?.library === library) return known.all
    const all = withOwn(library, scenarios)
    this.#libraries.set(tables, { library, all })
    return all
  }

  /** The rows that a reset of a client loads: its own, those of a client of the fixtures, or those of the default client. */
  #baseOf(name: string, { base, fixturesOf: whose = name }: ClientAbout) {
    const own = base === undefined ? this.#bases.get(whose) : this.#store.bases.get(base)
    return own ?? this.#bases.get(DEFAULT_CLIENT)!
  }

  /** Where the rows of a new client of this name come from, if from a state. */
  #stateOf(name: string): ClientAbout {
    const state = this.#states.get(this.#bases.has(name) ? name : DEFAULT_CLIENT)
    return state ? { base: state.base!, draws: state.draws! } : {}
  }

  /** Whether the profile that was loaded is the client's own: of the fixtures, or of a state. */
  #hasOwnProfile(tables: SandboxTables) {
    const { start, draws } = aboutOf(tables)
    const isOfCall = start !== undefined && draws === undefined
    return !isOfCall && tables.tables.client.newest('all', 'all')!.row.client === tables.name
  }

  /** Continues the state whose rows were loaded; options of the start or of the call replace what it says. */
  #continueState(tables: SandboxTables) {
    const { draws } = aboutOf(tables)
    if (draws === undefined) return
    const chosen = this.#hasOwnProfile(tables) ? this.#start : this.startOf(tables)
    const { clock, clockSpeed, scenario, assume } = chosen
    tables.change(() => {
      tables.random.counter = draws
      this.#adopt(tables, {
        clock: clock === 'real' ? undefined : clock,
        clockSpeed: clockSpeed === 1 ? undefined : clockSpeed,
        scenario: scenario === DEFAULT_SCENARIO ? undefined : scenario,
        assume,
      })
    })
  }

  /** Adapts loaded settings to the start options of a client; those that were chosen replace what the settings say. */
  #adopt(tables: SandboxTables, chosen: Omit<NewClient, 'name'>) {
    const start = this.startOf(tables)
    adoptSettings(tables, start, this.#wall)
    const { clock, clockSpeed: speed, scenario, assume } = chosen
    const stored = settingOf(tables.tables.settings, 'clock')
    if (clock !== undefined) tables.remove('settings', 'clock')
    else if (speed !== undefined) storeClock(tables, { ...stored!, speed }, startedAsOf(start))
    if (scenario !== undefined) tables.remove('settings', 'scenario')
    if (assume) removeChanges(tables, assume)
  }

  /** Continues an exported state that a person has put into the data file: it does not say how it was started. */
  continueExported(tables: SandboxTables) {
    if (settingOf(tables.tables.settings, 'clock')?.startedAs === '')
      adoptSettings(tables, this.startOf(tables), this.#wall)
  }

  /** Whether a client of the data file was created from other fixtures. */
  isOutdated(tables: SandboxTables): boolean {
    const { name, base } = tables
    return base !== '' && base !== this.#baseOf(name, aboutOf(tables)).key
  }

  /** Replaces all rows of a client by those with which it starts; its token stays. */
  readonly reload = (tables: SandboxTables): void => {
    const { access_token } = tables.tables.client.newest('all', 'all')!.row
    tables.reset(this.#baseOf(tables.name, aboutOf(tables)))
    this.#continueState(tables)
    if (!this.#hasOwnProfile(tables)) writeOwnProfile(tables, access_token)
  }

  /** Creates the tables of a client of the fixtures, or of a new name in a base path. */
  addOfFixtures(name: string, token: string): SandboxTables {
    const tables = this.#begin(name, this.#states.get(name) ?? this.#stateOf(name))
    if (!this.#hasOwnProfile(tables)) writeOwnProfile(tables, token)
    return tables
  }

  add(client: NewClient, source: ForkSource | undefined, newToken: () => string): SandboxTables {
    const { scenario, scenarios, randomSeed, clock, clockSpeed, checkKyc, assume } = client
    const about: ClientAbout = {
      start: omitUndefined({ scenario, randomSeed, clock, clockSpeed, assume }),
      ...omitUndefined({ checkKyc, scenarios }),
    }
    const tables = source ? this.#fork(source, client, about) : this.#fresh(client, about)
    writeOwnProfile(tables, client.access_token ?? newToken())
    return tables
  }

  #fresh({ name, fixtures }: NewClient, about: ClientAbout): SandboxTables {
    if (!fixtures) return this.#begin(name, { ...about, ...this.#stateOf(name) })
    const { key, rows } = fixtures()
    const base = this.#store.makeBase(`inline ${key}`, rows)
    return this.#store.addWorld(name, base, { ...about, base: base.key })
  }

  #begin(name: string, about: ClientAbout): SandboxTables {
    const tables = this.#store.addWorld(name, this.#baseOf(name, {}), about)
    this.#continueState(tables)
    return tables
  }

  #fork({ world, snapshot }: ForkSource, client: NewClient, own: ClientAbout): SandboxTables {
    const from = aboutOf(world.tables)
    const about: ClientAbout = {
      fixturesOf: world.name,
      ...from,
      ...own,
      start: mergedStart(from.start ?? {}, own.start),
    }
    const tables = this.#store.forkWorld(client.name, world.tables, snapshot, about)
    if (snapshot === undefined) storeClock(tables, world.clock.present(), '')
    this.#adopt(tables, client)
    return tables
  }
}
