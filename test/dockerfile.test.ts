import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'
import { run, serve } from './cli/program.ts'

const text = readFileSync(join(PACKAGE_ROOT, 'Dockerfile'), 'utf8')

t.test(
  'what the Dockerfile copies is there, and both stages have one base for all architectures',
  async (t) => {
    const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
      names!.split(' '),
    )
    t.ok(copied.length >= 6)
    for (const name of copied) t.ok(existsSync(join(PACKAGE_ROOT, name)), name)
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    t.equal(new Set(bases).size, 1)
    t.match(bases[0], /^node:\d+\.\d+\.\d+-\w+-slim@sha256:[0-9a-f]{64}$/)
  },
)

t.test('the health command follows the configured port', async (t) => {
  const { port } = await serve(t)
  const env = { PAYOUT_SANDBOX_PORT: String(port), PAYOUT_SANDBOX_HOST: '0.0.0.0' }
  t.match(await run(['health'], { env }), { code: 0, stdout: 'healthy\n' })
  const others = { ...env, PAYOUT_SANDBOX_CLOCK: 'soon' }
  t.match(await run(['health'], { env: others }), { code: 0 }, 'no other option is looked at')
  t.match(await run(['health', '--port', '1']), {
    code: 1,
    stdout: /not healthy: .*127\.0\.0\.1:1 /,
  })
})
