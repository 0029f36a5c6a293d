import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { rowsOf as rowsIn } from '../../src/storage/layers.ts'
import type { Snapshot } from '../../src/storage/world-tables.ts'
import type { Rows } from '../../src/tables/rows.ts'
import { type SandboxStore, TABLES } from '../../src/tables/tables.ts'

const rowsOf = ({ base, images, counter }: Snapshot<Rows>) => [
  base.key,
  counter,
  Object.keys(TABLES).map((name) => [...rowsIn(images[name as 'users'].layers)]),
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

/** The names of the journals of `db.json`, in order. */
export const journalsIn = (dir: string): string[] => {
  const numberOf = (name: string) => Number(name.split('.').at(-1))
  const names = readdirSync(dir).filter((name) => /^db\.json\.journal\.\d+$/.test(name))
  return names.sort((a, b) => numberOf(a) - numberOf(b))
}

/** The data files as a killed process leaves them, in a folder of their own. */
export function crashCopy(from: string, to: string): string {
  // The draft of a document is gone at any moment, and is read by nobody.
  cpSync(from, to, { recursive: true, filter: (name) => !/\.(lock|tmp)$/.test(name) })
  return join(to, 'db.json')
}
