import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { call, serve } from './program.ts'

const ROOM_BYTES = 30_000
const AT_ONCE = 20

/** Sets how large a file of a process may grow: what lies beyond is a full disk to it. */
const limitFiles = (pid: number, bytes: number | 'unlimited') =>
  spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])

const skip = spawnSync('prlimit', ['--version']).error ? 'prlimit is not here' : false

t.test(
  'on a full disk changes are refused and rolled back, reads go on, and it heals',
  { skip },
  async (t) => {
    const data = join(t.testdir(), 'db.json')
    const journal = join(t.testdirName, 'db.json.journal')
    const { url, adminUrl, child, stop, stderr } = await serve(t, ['--data', data])
    limitFiles(child.pid!, statSync(journal).size + ROOM_BYTES)

    const kept = new Set<string>()
    const refused: unknown[] = []
    const add = async (n: number) => {
      const user = { email: `full.${n}@example.com`, mobile: `+9181${String(n).padStart(8, '0')}` }
      const { status, body, headers } = await call(`${url}/user`, user)
      if (status === 201) kept.add(body.data.email)
      else refused.push([status, body.error, headers.get('retry-after')])
    }
    for (let n = 0; n < 400 && refused.length === 0; n += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => add(n + i)))

    t.ok(kept.size > 0 && refused.length > 0)
    for (const one of refused) t.same(one, [503, 'storage_unavailable', '1'])
    const present = async () => {
      const emails = new Set<string>()
      for (let page = 1; page <= 8; page++) {
        const { body } = await call(`${url}/users?limit=100&page=${page}`)
        for (const user of body.data.users)
          if (user.email.startsWith('full.')) emails.add(user.email)
      }
      return emails
    }
    t.same(await present(), kept, 'what was refused is not there, what was acknowledged is')

    // Not even a short line has room now.
    limitFiles(child.pid!, statSync(journal).size)
    await add(900)
    t.equal((await call(`${adminUrl}/health`)).body.status, 'degraded')
    t.match(stderr(), /cannot be written \(EFBIG\)/)
    const refusedClient = await call(`${url.replace('/v1', '/@new/v1')}/users`)
    t.match(refusedClient, { status: 503, body: { error: 'storage_unavailable' } })
    t.notMatch(stderr(), /client \\?"new\\?" created/, 'what is not made is not said to be')

    limitFiles(child.pid!, 'unlimited')
    const before = kept.size
    await add(1_000)
    t.equal(kept.size, before + 1)
    t.equal((await call(`${adminUrl}/health`)).body.status, 'healthy')
    await stop('SIGKILL')

    const again = await serve(t, ['--data', data])
    const { body } = await call(`${again.url}/users?limit=1`)
    t.equal(body.data.users[0].email, 'full.1000@example.com')
    await again.stop()
  },
)
