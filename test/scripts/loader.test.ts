import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'

const CACHE = `payout-sandbox.cjs.${process.version}-${process.arch}.cache`

/** A copy of the package in a folder, beside an empty home. */
function packageOf(t: Test) {
  const folder = t.testdir({ home: {} })
  for (const name of ['dist', 'package.json', 'fixtures', 'scenarios'])
    cpSync(join(PACKAGE_ROOT, name), join(folder, name), { recursive: true })
  const home = join(folder, 'home')
  const env = { PATH: process.env['PATH'], HOME: home, XDG_CACHE_HOME: join(home, 'caches') }
  return { dist: join(folder, 'dist'), home, env }
}

t.test('a start of another Node than that of the build writes no cache', async (t) => {
  const { dist, home, env } = packageOf(t)
  renameSync(join(dist, CACHE), join(dist, CACHE.replace(process.version, 'v1.2.3')))
  const words = [join(dist, 'bin.cjs'), 'start', '--json', '--memory', '--port', '0']
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  const child = spawn(process.execPath, words, { env, cwd: home, stdio })
  const ended = once(child, 'exit')
  const [line] = await once(child.stdout, 'data')
  t.equal((await fetch(`${JSON.parse(String(line)).url}/users`)).status, 200)
  child.kill('SIGTERM')
  t.strictSame(await ended, [0, null])
  t.strictSame(readdirSync(home), [])
})

const hasPipes = spawnSync('mkfifo', ['--version']).status === 0

t.test('a pipe in place of the cache is ignored', { skip: !hasPipes && 'no mkfifo' }, async (t) => {
  const { dist, env } = packageOf(t)
  renameSync(join(dist, CACHE), join(dist, 'other'))
  t.equal(spawnSync('mkfifo', [join(dist, CACHE)]).status, 0)
  const words = [join(dist, 'bin.cjs'), '--version']
  const { status } = spawnSync(process.execPath, words, { env, timeout: 20_000 })
  t.equal(status, 0)
})
