import type { SandboxStore, SandboxTables } from '../tables/tables.ts'

/** The prefix of worlds that collect rows before they replace those of a client; not allowed in client names. */
const PREFIX = '~'

/** Creates an empty hidden world to collect rows in. */
export function createStaging(store: SandboxStore, { empty }: SandboxTables): SandboxTables {
  let n = 1
  while (store.worlds.has(`${PREFIX}${n}`)) n++
  return store.addWorld(`${PREFIX}${n}`, empty)
}

/** Drops the hidden worlds that a killed process may have left. */
export function dropStaging(store: SandboxStore) {
  for (const [name, tables] of [...store.worlds]) if (name.startsWith(PREFIX)) tables.drop()
}
