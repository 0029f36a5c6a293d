// Writes the published types into the folder of its argument: only the types that a user imports, without any dependency.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const PUBLISHED = [
  'index.d.ts',
  'admin/admin-client.d.ts',
  'scenarios/condition.d.ts',
  'model/feed-kinds.d.ts',
]

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
// Each of its threads checks the library's types anew: one takes a third of the processor time of four.
const TSC = [join(root, 'node_modules/typescript-native/bin/tsc'), '--singleThreaded']
const out = resolve(process.argv[2])

/** All published files are in one folder, and a module specifier names the .js file. */
const flat = (text) =>
  text
    .replaceAll(/from '\.{1,2}\/(?:[\w-]+\/)*([\w-]+)\.ts'/g, "from './$1.js'")
    .replaceAll(/import\("\.{1,2}\/(?:[\w-]+\/)*([\w-]+)\.ts"\)/g, 'import("./$1.js")')

// tsc also writes the types of the files that these import.
const all = mkdtempSync(join(tmpdir(), 'payout-sandbox-types-'))
try {
  const args = [...TSC, '-p', join(root, 'tsconfig.build.json'), '--outDir', all]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stdout)
  mkdirSync(out, { recursive: true })
  for (const name of PUBLISHED)
    writeFileSync(join(out, basename(name)), flat(readFileSync(join(all, name), 'utf8')))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  rmSync(all, { recursive: true })
}
