import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DataFileOptions, Store } from '../../src/store/data-file.ts'
import { openStore } from '../../src/store/data-file.ts'
import { type Disk, nodeDisk } from '../../src/store/disk.ts'
import { DamagedFile, FORMAT, OtherFormat } from '../../src/store/errors.ts'
import type { DataDocument, StateShape } from '../../src/store/states.ts'
import type { Snapshot, Specs } from '../../src/store/worlds.ts'

/** States that list every table as it is. */
const plainShape = <Rows>(tables: readonly (keyof Rows & string)[]): StateShape<Rows> => ({
  tables,
  headOf: ({ base, counter }, about) => ({ draws: counter, fixtures: base, about }),
  read: ({ draws, fixtures, about }) => ({
    about: about as object,
    base: String(fixtures),
    counter: Number(draws),
    rows: {},
  }),
})

async function readPlain(file: string, bytes: Buffer): Promise<DataDocument> {
  let content: DataDocument | null
  try {
    content = JSON.parse(bytes.toString())
  } catch (error) {
    throw new DamagedFile(`${file}: ${(error as Error).message}`)
  }
  if (content?.format !== FORMAT) throw new OtherFormat(file, content?.format)
  return content
}

/** The real disk for a test that cuts no power: nothing is waited for. */
export const UNSYNCED: Disk = {
  ...nodeDisk,
  fdatasyncSync() {},
  fsyncSync() {},
  fsync: Object.assign((_: number, done: (error: null) => void) => done(null), nodeDisk.fsync),
}

export type PlainOptions = Omit<Partial<DataFileOptions<never>>, 'shape' | 'file'>

/** Opens a store; `lines` are what it logs. */
export async function openPlain<Rows>(
  specs: Specs<Rows>,
  file: string | undefined,
  options: PlainOptions = {},
) {
  const lines: string[] = []
  const tell = (level: string) => (message: string) => void lines.push(`${level}: ${message}`)
  const store = await openStore<Rows>({
    specs,
    ...(file !== undefined && {
      dataFile: {
        file,
        shape: plainShape(Object.keys(specs) as (keyof Rows & string)[]),
        readEdited: readPlain,
        disk: UNSYNCED,
        wall: () => 1_767_225_600_000,
        log: { info: tell('info'), warn: tell('warn'), error: tell('error') },
        ...options,
      },
    }),
  })
  return { store, lines }
}

/** The data files as a killed process leaves them, in a folder of their own. */
export function crashCopy(from: string, to: string): string {
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true, filter: (name) => !name.includes('.lock') })
  return join(to, 'db.json')
}

/** Every world with its snapshots, as text; `rowsOf` says what of each counts. */
export const contentBy = <Rows>(
  { worlds }: Pick<Store<Rows>, 'worlds'>,
  rowsOf: (snapshot: Snapshot<Rows>) => unknown,
) =>
  JSON.stringify(
    [...worlds.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((world) => [
        world.name,
        world.about,
        rowsOf(world.now()),
        [...world.snapshots].sort().map(([name, snapshot]) => [name, rowsOf(snapshot)]),
      ]),
  )
