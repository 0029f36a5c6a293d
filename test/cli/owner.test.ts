import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NO_NAMESPACES } from './owner-process.ts'
import { PROGRAM, run } from './program.ts'

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
  'a data file that is mounted by itself is refused, with what to mount',
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
