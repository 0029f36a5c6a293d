import { once } from 'node:events'
import t from 'tap'
import { call, spawned } from './program.ts'

const MAX_CALLS = 1_001

t.test('in a small heap names in paths end with a refusal, not with the process', async (t) => {
  for (const [heapMb, ...flags] of [[32], [64, '--max-clients', '5000']] as const) {
    const args = ['start', '--memory', '--port', '0', '--json', '--log-level', 'warn', ...flags]
    const { child, printed, ended } = spawned(args, { heapMb })
    t.teardown(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const origin = new URL(JSON.parse(printed.stdout).url).origin
    const limit = Number(
      /at most (\d+) clients are possible instead of --max-clients/.exec(printed.stderr)?.[1],
    )
    t.ok(limit > 0, printed.stderr)
    let answer = { status: 200, body: {} as { error?: string } }
    let made = 0
    for (; answer.status === 200 && made < MAX_CALLS; made++)
      answer = await call(`${origin}/@w${made}/v1/users?limit=1`)
    t.match(answer, { status: 409, body: { error: 'client_limit_reached' } }, `${heapMb} MB`)
    const ready = await call(`${origin}/__admin/ready`)
    t.match(ready, { status: 200, body: { clients: limit } })
    t.equal((await call(`${origin}/@w0/v1/users?limit=100`)).status, 200)
    child.kill('SIGTERM')
    t.equal((await ended).code, 0)
  }
})
