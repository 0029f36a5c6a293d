import { builtFile } from '../config/package.ts'
import type { BaseRows } from '../store/worlds.ts'
import type { Rows } from '../tables/rows.ts'

/** The rows with which a client starts, by table, and a key that identifies the content. */
export type StartRows = {
  key: string
  rows: BaseRows<Rows>
  /** For rows of a state file, which has clock, scenario and profile too: what the rows do not say. */
  state?: { draws: number; start: object }
}

/** The clients of a fixture set, by name. */
export type FixtureWorlds = Map<string, StartRows>

/** The shipped set as the build checked it; `undefined` if there is no build. */
export const shippedWorlds = builtFile((text): FixtureWorlds => new Map(JSON.parse(text)))
