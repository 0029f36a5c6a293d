import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { rowsOf as rowsIn } from '../../src/store/table.ts'
import type { Snapshot } from '../../src/store/world-tables.ts'
import type { Rows } from '../../src/tables/rows.ts'
import { type SandboxStore, TABLES } from '../../src/tables/tables.ts'

const byName = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
const rowsOf = ({ base, images, counter }: Snapshot<Rows>) => [
  base,
  counter,
  Object.keys(TABLES).map((name) => {
    const rows = [...rowsIn<object>(images[name as 'users'])]
    // The settings have no order.
    return name === 'settings' ? rows.sort(byName) : rows
  }),
]

/** All that a store holds, as text: every world's rows in order, its draws, its snapshots. */
export const contentOf = (store: Pick<SandboxStore, 'worlds'>): string =>
  JSON.stringify(
    [...store.worlds.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((world) => [
        world.name,
        world.about,
        rowsOf(world.now()),
        [...world.snapshots].sort().map(([name, snapshot]) => [name, rowsOf(snapshot)]),
      ]),
  )

/** The data files as a killed process leaves them, in a folder of their own. */
export function crashCopy(from: string, to: string): string {
  cpSync(from, to, { recursive: true, filter: (name) => !name.includes('.lock') })
  return join(to, 'db.json')
}
