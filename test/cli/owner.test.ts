import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NO_NAMESPACES } from './owner-process.ts'
import { call, PROGRAM, run, serve } from './program.ts'

const user = (n: number) => ({ email: `u${n}@example.com`, mobile: `98765000${10 + n}` })

t.test(
  'a folder removed under a running sandbox: changes are refused, health says why',
  async (t) => {
    const dir = t.testdir({ data: {} })
    const first = await serve(t, ['--data', join(dir, 'data/db.json')])
    t.equal((await call(`${first.url}/user`, user(0))).status, 201)
    rmSync(join(dir, 'data'), { recursive: true })
    t.match(await call(`${first.url}/user`, user(1)), {
      status: 503,
      body: { error: 'storage_unavailable', message: /no longer owns the data file.*was removed/ },
    })
    t.match((await call(`${first.adminUrl}/health`)).body, {
      status: 'degraded',
      message: /its lock .* was removed.* Restart it/,
    })
    t.equal((await call(`${first.url}/users`)).status, 200, 'reads go on')

    const second = await serve(t, ['--data', join(dir, 'data/db.json')])
    t.equal((await call(`${second.url}/user`, user(2))).status, 201)
    const { code, stderr } = await first.stop()
    t.equal(code, 0)
    t.equal(stderr.split('no longer owns').length, 2, 'the log says it once')
    t.equal((await call(`${second.url}/user`, user(3))).status, 201)
    await second.stop('SIGKILL')
    const again = await serve(t, ['--data', join(dir, 'data/db.json')])
    const { users } = (await call(`${again.url}/users`)).body.data
    t.same(
      users.slice(0, 2).map(({ email }: { email: string }) => email),
      ['u3@example.com', 'u2@example.com'],
    )
    await again.stop()
  },
)

t.test('a data file that is no file ends with 5, and nothing hangs', async (t) => {
  const dir = t.testdir({})
  const fifo = join(dir, 'fifo')
  if (process.platform !== 'win32') {
    spawnSync('mkfifo', [fifo])
    t.match(await run(['--port', '0', '--data', fifo]), {
      code: 5,
      stderr: /cannot be used\. .*fifo is a FIFO, but must be a regular file/,
    })
    t.same(readdirSync(dir), ['fifo'])
  }
  for (const device of ['/dev/zero', '/dev/full', '/dev/null'].filter((name) => existsSync(name))) {
    t.match(await run(['--port', '0', '--data', device]), { code: 5, stderr: /is a device/ })
    t.notOk(existsSync(`${device}.lock`))
  }
})

t.test(
  'a data file that is mounted by itself is refused, and the message says what to mount',
  { skip: NO_NAMESPACES },
  async (t) => {
    const dir = t.testdir({ host: {}, data: {} })
    const [source, data] = [join(dir, 'host/db.json'), join(dir, 'data/db.json')]
    for (const file of [source, data]) closeSync(openSync(file, 'w'))
    const { status, stderr } = spawnSync(
      'unshare',
      [
        '--mount',
        'sh',
        '-c',
        'mount --bind "$0" "$1" && shift && exec "$@"',
        source,
        data,
        ...PROGRAM,
        'start',
        '--port',
        '0',
        '--data',
        data,
      ],
      { encoding: 'utf8', timeout: 20_000 },
    )
    t.equal(status, 5, stderr)
    t.match(stderr, /db\.json is mounted as a single file.*mount the folder instead/)
    t.same(readdirSync(join(dir, 'data')), ['db.json'], 'nothing is left beside it')
  },
)
