import { spawn } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
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
  const ended = once(child, 'exit')
  const line = await Promise.race([once(child.stdout, 'data'), ended.then(() => undefined)])
  if (line === undefined) throw new Error(`It ended before it listened: ${child.signalCode}`)
  child.kill('SIGKILL')
  await ended
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
    t.notOk(readFileSync(file!).includes(dirname(one.bin)), 'stack traces do not name this folder')

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

t.test('no file of the package contains the folder of the build', async (t) => {
  const dist = join(PACKAGE_ROOT, 'dist')
  for (const file of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const path = join(file.parentPath, file.name)
    t.notOk(readFileSync(path).includes(dist), path)
  }
})

t.test('a start without a folder for caches works', { skip }, async (t) => {
  const one = packageOf(t)
  writeFileSync(one.caches, '')
  t.strictSame(await startAndKill(one), [])
})

const { userCache } = createRequire(import.meta.url)('../../scripts/user-cache.cjs')
const LISTENING = channel('payout-sandbox.listening')
const RESPONDED = channel('http.server.response.finish')

/** Sets variables of this process for one test. */
function useEnv(t: Test, env: Record<string, string | undefined>) {
  const old = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]))
  const set = (values: typeof env) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  set(env)
  t.teardown(() => set(old))
}

/** A user with an empty folder of caches. `store` does what a start from this source does until its first response. */
function newUser(t: Test) {
  const caches = join(t.testdir(), 'caches')
  useEnv(t, { XDG_CACHE_HOME: caches, NODE_DISABLE_COMPILE_CACHE: undefined })
  const folder = join(caches, 'payout-sandbox')
  const files = () => (existsSync(folder) ? readdirSync(folder) : []).map((it) => join(folder, it))
  return { caches, folder, files, store, read: (source = SOURCE) => userCache(source).read() }
}
const SOURCE = '({ answer: () => 42 })'
function store(source = SOURCE) {
  userCache(source).storeWhenUsed(new Script(source))
  LISTENING.publish({})
  RESPONDED.publish({})
}

t.test(
  'the stored cache is for one bundle, and only with the bytes it had',
  { skip },
  async (t) => {
    const { files, read } = newUser(t)
    t.equal(read(), undefined)
    store()
    const [file] = files()
    t.notOk(new Script(SOURCE, { cachedData: read() }).cachedDataRejected)
    t.equal(read(`${SOURCE} `), undefined, 'another bundle does not read it')
    store(`${SOURCE} `)
    t.equal(files().length, 2)
    const whole = readFileSync(file!)
    const isRead = (bytes: Buffer) => {
      writeFileSync(file!, bytes)
      return read() !== undefined
    }
    t.ok(isRead(whole))
    for (const at of [0, 4, whole.length >> 1, whole.length - 1]) {
      const damaged = Buffer.from(whole)
      damaged[at]! ^= 1
      t.notOk(isRead(damaged), `byte ${at} is damaged`)
    }
    t.notOk(isRead(whole.subarray(0, -1)), 'the end is missing')
    t.notOk(isRead(Buffer.alloc(0)), 'all is missing')
  },
)

t.test(
  'it is stored again after the first response, with what that compiled',
  { skip },
  async (t) => {
    const { files } = newUser(t)
    const script = new Script(SOURCE)
    const { answer } = script.runInThisContext()
    userCache(SOURCE).storeWhenUsed(script)
    RESPONDED.publish({})
    t.strictSame(files(), [], 'the sandbox does not listen yet')
    LISTENING.publish({})
    const size = () => statSync(files()[0]!).size
    const first = size()
    answer()
    RESPONDED.publish({})
    const second = size()
    t.ok(second > first, `${second} and ${first} bytes`)
    writeFileSync(files()[0]!, '')
    RESPONDED.publish({})
    t.equal(size(), 0, 'later responses store nothing')
  },
)

t.test('a cache that others can write is not used', { skip }, async (t) => {
  const { files, folder, read } = newUser(t)
  store()
  const [file] = files()
  for (const mode of [0o620, 0o602]) {
    chmodSync(file!, mode)
    t.equal(read(), undefined, mode.toString(8))
  }
  store()
  t.equal(statSync(file!).mode & 0o777, 0o600, 'it is replaced')
  chmodSync(folder, 0o777)
  writeFileSync(file!, '')
  store()
  t.equal(statSync(file!).size, 0, 'in a folder that others can write, nothing is stored')
})

t.test('one variable switches it off', { skip }, async (t) => {
  const { files, read } = newUser(t)
  store()
  process.env['NODE_DISABLE_COMPILE_CACHE'] = '1'
  t.equal(read(), undefined, 'a stored one is not used')
  store(`${SOURCE} `)
  t.equal(files().length, 1, 'none is stored')
})

t.test('nothing fails where no cache can be stored', { skip }, async (t) => {
  const { caches } = newUser(t)
  const work = join(caches, '../work')
  mkdirSync(work)
  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  process.chdir(work)
  writeFileSync(caches, '')
  // Also root cannot write into /sys. An empty HOME is no folder.
  for (const [what, env] of Object.entries({
    'a file is in the way': {},
    'the home is read-only': { XDG_CACHE_HOME: undefined, HOME: '/sys' },
    'there is no home': { XDG_CACHE_HOME: undefined, HOME: '' },
  })) {
    useEnv(t, env)
    t.doesNotThrow(store, what)
    t.equal(userCache(SOURCE).read(), undefined, what)
  }
  t.strictSame(readdirSync('.'), [], 'and nothing is written into the working folder')
})

t.test('at most eight caches are stored', { skip }, async (t) => {
  const { files, folder } = newUser(t)
  store()
  const [file] = files()
  for (let n = 0; n < 9; n++) writeFileSync(join(folder, `old-${n}`), '')
  store()
  t.equal(files().length, 8)
  t.ok(files().includes(file!))
})
