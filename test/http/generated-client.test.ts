import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import t from 'tap'
import { ADMIN_CALLS } from '../../src/app.ts'
import { adminDocument } from '../../src/http/openapi-admin.ts'
import { ROHAN, start } from '../helper.ts'
import { noTools, toolFile } from '../tools.ts'

const require = createRequire(import.meta.url)

// A user's program with the generated client; it is type-checked and then run.
const USE = `
import { createClient } from './generated/client'
import { advanceClock, getClock, listRules, pushRule, setScenario, simulateTransaction } from './generated/sdk.gen'
import type { Clock, Fired } from './generated/types.gen'

export async function use(baseUrl: string) {
  const client = createClient({ baseUrl, headers: { 'X-Admin-Token': 'secret' } })
  const clock: Clock | undefined = (await getClock({ client })).data
  const moved: Fired | undefined = (await advanceClock({ client, body: { by: '2d' } })).data
  const rule = await pushRule({ client, body: { name: 'one', when: { operation: 'listUsers' }, then: { respond: { status: 503 } } } })
  const rules = await listRules({ client })
  const scenario = await setScenario({ client, body: { name: 'slow' } })
  const refused = await simulateTransaction({ client, path: { id: '${ROHAN}' }, body: { status: 'SUCCESS' } })
  // @ts-expect-error an unknown status
  await simulateTransaction({ client, path: { id: '${ROHAN}' }, body: { status: 'LOST' } })
  return {
    mode: clock?.mode,
    now: moved?.now,
    rules: rules.data?.rules.map(({ rule_id }) => rule_id === rule.data?.rule_id),
    scenario: scenario.data?.name,
    refused: refused.error?.error,
  }
}
`

function run(args: readonly string[]) {
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: 120_000,
    env,
  })
  return { status, text: stdout + stderr }
}

t.test(
  'a client made from the document by a public generator type-checks and works',
  { skip: noTools },
  async (t) => {
    const dir = t.testdir({
      'openapi.json': JSON.stringify(adminDocument(ADMIN_CALLS)),
      'use.ts': USE,
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          target: 'es2023',
          lib: ['es2023', 'dom', 'dom.iterable'],
          module: 'esnext',
          moduleResolution: 'bundler',
          strict: true,
          skipDefaultLibCheck: true,
          noEmit: true,
          types: [],
        },
        include: ['use.ts'],
      }),
    })
    const generator = toolFile('@hey-api/openapi-ts', 'bin/run.js')
    const [input, output] = [join(dir, 'openapi.json'), join(dir, 'generated')]
    const made = run([generator, '-i', input, '-o', output, '-c', '@hey-api/client-fetch'])
    t.equal(made.status, 0, made.text)
    const checked = run([require.resolve('typescript/bin/tsc'), '-p', dir])
    t.equal(checked.status, 0, checked.text)

    const { app } = await start(t, { app: { adminToken: 'secret' } })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const outfile = join(dir, 'use.mjs')
    await build({ entryPoints: [join(dir, 'use.ts')], outfile, bundle: true, format: 'esm' })
    const { use } = await import(outfile)
    t.strictSame(await use(`${origin}/__admin`), {
      mode: 'frozen',
      now: '2026-01-03T00:00:00.000Z',
      rules: [true],
      scenario: 'slow',
      refused: 'not_found',
    })
  },
)
