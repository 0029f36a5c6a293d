import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package-root.ts'
import { run, serve } from './cli/program.ts'

type Step = { word: string; rest: string; line: number }
type Stage = { base: string; name: string | undefined; steps: Step[] }

const { readDockerfile, configOf } = await import(
  join(PACKAGE_ROOT, 'scripts/container/dockerfile.mjs')
)
const stages: Stage[] = readDockerfile(readFileSync(join(PACKAGE_ROOT, 'Dockerfile'), 'utf8'))

t.test('what the Dockerfile copies is there, and it runs as no root', async (t) => {
  const copied = stages
    .flatMap(({ steps }) => steps)
    .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from'))
    .flatMap(({ rest }) => rest.split(' ').slice(0, -1))
  t.ok(copied.length >= 6)
  for (const name of copied) t.ok(existsSync(join(PACKAGE_ROOT, name)), name)
  t.strictSame(configOf(stages.at(-1), ['PATH=/bin']), {
    User: 'node',
    Env: [
      'PATH=/bin',
      'NODE_ENV=production',
      'PAYOUT_SANDBOX_HOST=0.0.0.0',
      'PAYOUT_SANDBOX_DATA=/data/db.json',
    ],
    WorkingDir: '/app',
    Volumes: { '/data': {} },
    ExposedPorts: { '4310/tcp': {} },
    StopSignal: 'SIGTERM',
    Healthcheck: { Test: ['CMD', 'node', '/app/dist/bin.cjs', 'health'] },
    Entrypoint: ['node', '/app/dist/bin.cjs'],
    Cmd: ['start'],
  })
})

t.test('a health check runs often only until the first success', async (t) => {
  const { rest } = stages.at(-1)!.steps.find(({ word }) => word === 'HEALTHCHECK')!
  const flags = Object.fromEntries([...rest.matchAll(/--([\w-]+)=(\S+)/g)].map(([, ...one]) => one))
  t.match(flags, { interval: '30s', 'start-interval': '1s', 'start-period': /^\d{2}s$/ })
})

t.test('the image is built for amd64 and arm64 from the same steps', async (t) => {
  // One digest, that of the index of all architectures, and no stage is built for another one than it runs on.
  for (const { base } of stages) t.match(base, /^node:\d+\.\d+\.\d+-\w+-slim@sha256:[0-9a-f]{64}$/)
  t.equal(new Set(stages.map(({ base }) => base)).size, 1, 'both stages have one base')
  const { packages } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package-lock.json'), 'utf8'))
  const forX64 = Object.keys(packages).filter((name) => /linux-x64/.test(name))
  t.ok(forX64.includes('node_modules/@esbuild/linux-x64'))
  for (const name of forX64) {
    const other = packages[name.replace('linux-x64', 'linux-arm64')]
    t.equal(other?.version, packages[name].version, name)
  }
})

t.test('a step that would be carried out otherwise than by an engine is refused', async (t) => {
  const config = (text: string) => () => configOf(readDockerfile(text).at(-1), [])
  t.throws(config('FROM a\n\nSHELL ["x"]'), /Dockerfile:3: SHELL is not supported here/)
  t.throws(config('RUN x'), /Dockerfile:1: RUN must follow a FROM/)
  t.throws(config('FROM a\nENV A="b c"'), /Dockerfile:2: only plain NAME=value is supported here/)
  t.throws(config('FROM a\nCMD start'), /Dockerfile:2: CMD takes a JSON array, not start/)
  t.throws(config('FROM a\nHEALTHCHECK NONE'), /Dockerfile:2: HEALTHCHECK takes a JSON array/)
  t.throws(config('FROM a\n<<EOF'), /Dockerfile:2: not a step/)
  const [first, second] = readDockerfile('FROM a AS b\n# no\nRUN x \\\n  y\nUSER u\nFROM b\nUSER v')
  t.match(first, { base: 'a', name: 'b', steps: [{ rest: 'x    y', line: 3 }, { line: 5 }] })
  t.match(second, { base: 'b', name: undefined, steps: [{ word: 'USER', rest: 'v' }] })
})

t.test('the health command follows the configured port', async (t) => {
  const { port } = await serve(t)
  const env = { PAYOUT_SANDBOX_PORT: String(port), PAYOUT_SANDBOX_HOST: '0.0.0.0' }
  t.match(await run(['health'], { env }), { code: 0, stdout: 'healthy\n' })
  const others = { ...env, PAYOUT_SANDBOX_RECORD: 'run.ndjson', PAYOUT_SANDBOX_CLOCK: 'soon' }
  t.match(await run(['health'], { env: others }), { code: 0 }, 'no other option is looked at')
  t.match(await run(['health', '--port', '1']), {
    code: 1,
    stdout: /not healthy: .*127\.0\.0\.1:1 /,
  })
})
