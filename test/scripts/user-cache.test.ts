import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'

/** A package that another version of Node has built: there is no code cache for this one. */
function packageOf(t: Test) {
  const folder = t.testdir()
  for (const name of ['dist', 'package.json', 'fixtures', 'scenarios'])
    cpSync(join(PACKAGE_ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.endsWith('.cache'),
    })
  return { bin: join(folder, 'dist/bin.cjs'), caches: join(folder, 'caches') }
}

/** Starts a sandbox, kills it when it says that it listens, and returns what is in its folder of caches then. */
async function startAndKill(
  { bin, caches }: ReturnType<typeof packageOf>,
  env: Record<string, string> = {},
) {
  const child = spawn(process.execPath, [bin, 'start', '--json', '--memory', '--port', '0'], {
    env: { PATH: process.env['PATH'], XDG_CACHE_HOME: caches, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const folder = join(caches, 'payout-sandbox')
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

const skip = process.platform !== 'linux' && 'XDG_CACHE_HOME is for Linux'

t.test(
  'the first start stores the code cache of this Node, also if it is killed',
  { skip },
  async (t) => {
    const one = packageOf(t)
    t.strictSame(await startAndKill(one, { NODE_DISABLE_COMPILE_CACHE: '1' }), [], 'switched off')
    const [file, ...more] = await startAndKill(one)
    t.strictSame(more, [])
    t.ok(file!.endsWith(`-${process.version}-${process.arch}`), file!)
    t.equal(statSync(file!).mode & 0o777, 0o600)
    t.equal(statSync(join(file!, '..')).mode & 0o777, 0o700)

    const stored = statSync(file!)
    const isStoredAgain = async () => {
      await startAndKill(one)
      return statSync(file!).ino !== stored.ino
    }
    t.notOk(await isStoredAgain(), 'V8 accepts it, so it is not stored again')
    const bytes = readFileSync(file!)
    bytes[bytes.length >> 1]! ^= 1
    writeFileSync(file!, bytes)
    t.ok(await isStoredAgain(), 'a damaged one is replaced')
  },
)

t.test('a code cache that others can write is not used', { skip }, async (t) => {
  const one = packageOf(t)
  const [file] = await startAndKill(one)
  chmodSync(file!, 0o666)
  await startAndKill(one)
  t.equal(statSync(file!).mode & 0o777, 0o600, 'it is replaced')
  chmodSync(join(file!, '..'), 0o777)
  writeFileSync(file!, '')
  await startAndKill(one)
  t.equal(statSync(file!).size, 0, 'in a folder that others can write, nothing is stored')
})

t.test('a start without a folder for caches works', { skip }, async (t) => {
  const one = packageOf(t)
  writeFileSync(one.caches, '')
  t.strictSame(await startAndKill(one), [])
})

t.test('at most eight code caches are stored', { skip }, async (t) => {
  const one = packageOf(t)
  const [file] = await startAndKill(one)
  for (let n = 0; n < 9; n++) writeFileSync(join(file!, '..', `old-${n}`), '')
  writeFileSync(file!, '')
  const left = await startAndKill(one)
  t.equal(left.length, 8)
  t.ok(left.includes(file!))
})
