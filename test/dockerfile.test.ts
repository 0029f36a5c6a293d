import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package-root.ts'
import { run, serve } from './cli/program.ts'

t.test('what the Dockerfile copies is there, and it runs as no root', async (t) => {
  const lines = readFileSync(join(PACKAGE_ROOT, 'Dockerfile'), 'utf8').split('\n')
  const copied = lines
    .filter((line) => /^COPY (?!--from)/.test(line))
    .flatMap((line) => line.split(' ').slice(1, -1))
  t.ok(copied.length >= 6)
  for (const name of copied) t.ok(existsSync(join(PACKAGE_ROOT, name)), name)
  t.ok(lines.includes('USER node'))
})

t.test('the health command follows the configured port', async (t) => {
  const { port } = await serve(t)
  const env = { PAYOUT_SANDBOX_PORT: String(port), PAYOUT_SANDBOX_HOST: '0.0.0.0' }
  t.match(await run(['health'], { env }), { code: 0, stdout: 'healthy\n' })
  t.match(await run(['health', '--port', '1']), { code: 1, stdout: /not healthy: 127\.0\.0\.1:1/ })
})
