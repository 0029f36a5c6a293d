// Builds dist, unless it is newer than all that goes into it. With --types, it has the types too.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const INPUTS =
  'src scripts fixtures scenarios clients docs/webhooks.md package.json package-lock.json'.split(
    ' ',
  )
const types = process.argv.includes('--types')
const dist = (name) => join(root, 'dist', name)
// The last one is the last file that a build writes.
const needed = [
  `payout-sandbox.cjs.${process.version}-${process.arch}.cache`,
  ...(types ? ['types/index.d.ts'] : []),
  'THIRD-PARTY-LICENSES.txt',
].map(dist)

function newest(path) {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  const names = readdirSync(path).filter((name) => name !== 'node_modules')
  return Math.max(...names.map((name) => newest(join(path, name))))
}

const isFresh = () =>
  needed.every((file) => existsSync(file)) &&
  statSync(needed.at(-1)).mtimeMs > Math.max(...INPUTS.map((name) => newest(join(root, name))))

if (existsSync(join(root, 'src')) && !isFresh()) {
  const words = [join(root, 'scripts/build.mjs'), ...(types ? ['--types'] : [])]
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
