// Tools that the first command does not need have a package.json and a lock file of their own, and are installed by the
// command that needs them: node scripts/tools.mjs biome check .
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const digestOf = (path) => createHash('sha256').update(readFileSync(path)).digest('hex')

/** npm adds all its options to some complaints. */
const firstLines = (text) => text.trim().split('\n').slice(0, 8).join('\n')

/** Installs the packages of a folder, unless these very ones are installed. Answers why it could not; else undefined. */
export async function installTools(name) {
  const folder = join(root, name)
  const wanted = digestOf(join(folder, 'package-lock.json'))
  const mark = join(folder, 'node_modules/.installed')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return undefined

  console.error(`The packages of ${name} are installed now, this once.`)
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = spawn('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  npm.stderr.setEncoding('utf8').on('data', (text) => {
    complaint += text
  })
  const [code] = await once(npm, 'close')
  if (code !== 0)
    return `The packages of ${name} could not be installed. With a network, run: npm ci --prefix ${name}\n${firstLines(complaint)}`
  writeFileSync(mark, wanted)
  return undefined
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [tool, ...args] = process.argv.slice(2)
  const failure = await installTools('scripts/tools')
  if (failure === undefined) {
    const bin = join(root, 'scripts/tools/node_modules/.bin', tool)
    process.exitCode = spawnSync(bin, args, { cwd: root, stdio: 'inherit' }).status ?? 1
  } else {
    console.error(failure)
    process.exitCode = 1
  }
}
