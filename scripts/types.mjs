// Writes the published types into the folder of its argument: only the types that a user imports, without any dependency.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
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
const out = resolve(process.argv[2])
const all = mkdtempSync(join(tmpdir(), 'payout-sandbox-types-'))
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const { status } = spawnSync(
  process.execPath,
  [tsc, '-p', 'tsconfig.build.json', '--outDir', all],
  { cwd: root, stdio: 'inherit' },
)
if (status === 0) {
  mkdirSync(out, { recursive: true })
  for (const name of PUBLISHED) {
    const text = readFileSync(join(all, name), 'utf8')
    // All published files are in one folder, and a module specifier names the .js file.
    const flat = text
      .replaceAll(/from '\.{1,2}\/(?:[\w-]+\/)*([\w-]+)\.ts'/g, "from './$1.js'")
      .replaceAll(/import\("\.{1,2}\/(?:[\w-]+\/)*([\w-]+)\.ts"\)/g, 'import("./$1.js")')
    writeFileSync(join(out, basename(name)), flat)
  }
}
rmSync(all, { recursive: true })
process.exitCode = status ?? 1
