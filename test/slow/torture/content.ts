import { STORED_STATE } from '../../../src/content/state.ts'
import { openStore } from '../../../src/store/data-file.ts'
import type { Disk } from '../../../src/store/disk.ts'
import { rowsOf as rowsIn } from '../../../src/store/table.ts'
import type { Snapshot } from '../../../src/store/worlds.ts'
import type { Rows } from '../../../src/tables/rows.ts'
import { type SandboxStore, TABLES } from '../../../src/tables/tables.ts'
import { contentBy } from '../../store/plain-store.ts'

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
export const contentOf = (store: Pick<SandboxStore, 'worlds'>) => contentBy(store, rowsOf)

/** Opens data files as a sandbox has them; `warn` receives what is logged. */
export const openFiles = (file: string, disk: Disk, warn: (line: string) => void = () => {}) =>
  openStore({
    specs: TABLES,
    dataFile: {
      file,
      disk,
      shape: STORED_STATE,
      readEdited: async (_, bytes) => JSON.parse(bytes.toString()),
      wall: () => 0,
      log: { info() {}, warn, error() {} },
    },
  })
