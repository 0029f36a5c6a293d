import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { Snapshot } from '../../src/storage/store.ts'
import { createTable } from '../../src/storage/table.ts'
import type { Rows } from '../../src/tables/rows.ts'
import { type SandboxStore, TABLES } from '../../src/tables/tables.ts'

const rowsOf = ({ base, images, counter }: Snapshot<Rows>) => [
  base.key,
  counter,
  Object.keys(TABLES).map((name) => [
    ...createTable(TABLES[name as 'users'], images[name as 'users']).rows(),
  ]),
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
  // The draft of a document is gone at any moment, and is read by nobody.
  cpSync(from, to, { recursive: true, filter: (name) => !/\.(lock|tmp)$/.test(name) })
  return join(to, 'db.json')
}
