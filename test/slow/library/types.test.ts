import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { OptionName } from '../../../src/config/options.ts'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import type { SandboxEvent, SandboxOptions } from '../../../src/index.ts'
import type { FeedKind } from '../../../src/model/feed-kinds.ts'

// Each of its threads checks the library's types anew: one takes a third of the processor time of four.
const TSC = [join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc'), '--singleThreaded']

type Camel<T extends string> = T extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : T
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

t.test('the library takes every option of start, and besides them only unref', async (t) => {
  // Held by the type check of this repository.
  const same: Same<Exclude<keyof SandboxOptions, 'unref'>, Camel<OptionName>> = true
  t.ok(same)
})

t.test('an event of the library has every kind of the feed, and no other but gap', async (t) => {
  const same: Same<SandboxEvent['kind'], FeedKind | 'gap'> = true
  t.ok(same)
})

// What a user of TypeScript writes; nothing of this repository but the package is there.
const USE = `
import { AdminError, createAdminClient, startSandbox, type AdminClient, type RunningSandbox, type SandboxOptions } from 'payout-sandbox'

const options: SandboxOptions = { clock: 'frozen', randomSeed: 7 }
const sandbox: RunningSandbox = await startSandbox(options)
const admin: AdminClient = sandbox.admin
const url: string = sandbox.url
const now: string = (await admin.clock.advance('2d')).now
const kinds: string[] = (await admin.clock.advance({ to: now })).fired.map(({ kind }) => kind)
const status: 'pending' | 'delivered' | 'failed' | 'dropped' | 'cancelled' | 'recorded' | undefined =
  (await admin.webhooks.deliveries({ limit: 1 })).deliveries[0]?.status
await admin.simulate.transaction('id', { status: 'SUCCESS' })
await admin.webhooks.trigger({ event: 'transaction.success' })
const another: AdminClient = createAdminClient({ url, client: 'worker-3' }).forClient('worker-4')
try {
  await another.scenario.use('no-such')
} catch (error) {
  if (error instanceof AdminError) console.log(error.status.toFixed(), error.code, error.errors[0]?.field, kinds, status)
}
await sandbox.close()
await using other = await startSandbox({ unref: true })
const disposed: Promise<void> = other[Symbol.asyncDispose]()

// @ts-expect-error no such option
await startSandbox({ clocks: 'frozen' })
// @ts-expect-error no such status
await admin.simulate.transaction('id', { status: 'LOST' })
// @ts-expect-error no such field
now.answered = (await admin.clock.get()).later
// @ts-expect-error no such event
await admin.webhooks.trigger({ event: 'transaction.lost' })
await admin.rules.push({
  name: 'down',
  when: { operation: 'createTransaction', body: { amount: { gte: 100 }, remark: { startsWith: 'x' } } },
  then: { respond: { status: 503, body: { any: ['json', 1, null] } } },
  times: 1,
})
await admin.rules.push({ when: { operation: { in: ['getUser'] } }, sequence: ['pass', { delay: '200ms..2s' }] })
await admin.scenario.define({ rules: [{ when: { operation: '*' }, then: { fault: 'reset' } }], expect: { requests: { getUser: 1 } } })
await admin.requests.verify({ match: { path: '/v1/user', status: { gte: 200 } }, exactly: 1 })
await admin.requests.verify({ sequence: [{ operation: 'createUser' }, { body: { amount: { gt: 5 } } }] })
await admin.wait({ for: 'transaction', match: { transaction_status: 'success' }, timeout_ms: 5 })
await admin.wait({ for: 'request', match: { operation: 'getUser', body: { amount: 5 } } })
for await (const { kind, data } of admin.events()) if (kind === 'request') console.log(data.path)

// @ts-expect-error no such word in when
await admin.rules.push({ when: { operaton: 'getUser' }, then: { delay: '1s' } })
// @ts-expect-error no such operation
await admin.rules.push({ when: { operation: 'getUsr' }, then: { delay: '1s' } })
// @ts-expect-error no such word in then
await admin.rules.push({ when: { operation: 'getUser' }, then: { dely: '1s' } })
// @ts-expect-error no such word beside them
await admin.rules.push({ when: { operation: 'getUser' }, then: { delay: '1s' }, time: 1 })
// @ts-expect-error no such step
await admin.rules.push({ when: { operation: '*' }, then: { transaction: [{ status: 'LOST' }] } })
// @ts-expect-error no such word in a scenario
await admin.scenario.define({ rule: [] })
// @ts-expect-error no such word in match
await admin.requests.verify({ match: { operaton: 'getUser' } })
// @ts-expect-error no such word in a step
await admin.requests.verify({ sequence: [{ operaton: 'getUser' }] })
// @ts-expect-error no such word in match
await admin.requests.find({ match: { bodi: {} } })
// @ts-expect-error no such field
await admin.wait({ for: 'transaction', match: { transaction_state: 'success' } })
// @ts-expect-error a number is no duration
await admin.clock.advance(180000)
// @ts-expect-error an event has a kind
for await (const event of admin.events()) console.log(event.event)
// @ts-expect-error no such kind
for await (const { kind } of admin.events()) if (kind === 'requests') break
// @ts-expect-error no such call
await admin.clock.rewind()
`

const USE_OF_COMMONJS = `
import { AdminError, startSandbox, type RunningSandbox } from 'payout-sandbox'

export async function use(): Promise<string> {
  const sandbox: RunningSandbox = await startSandbox({ clock: 'frozen' })
  // @ts-expect-error no such option
  await startSandbox({ clocks: 'frozen' })
  for await (const { kind } of sandbox.admin.events()) if (kind === 'request') break
  try {
    return (await sandbox.admin.clock.advance('2d')).now
  } catch (error) {
    return error instanceof AdminError ? error.code : ''
  }
}
`

t.test(
  'the published types are whole by themselves for ES modules and CommonJS in TypeScript',
  async (t) => {
    const dir = t.testdir({
      'package.json': '{"type":"module"}',
      'use.ts': USE,
      'use.cts': USE_OF_COMMONJS,
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'node16',
          target: 'es2023',
          lib: ['es2023', 'dom'],
          types: [],
          strict: true,
          skipDefaultLibCheck: true,
          noEmit: true,
        },
      }),
    })
    const installed = join(dir, 'node_modules/payout-sandbox')
    mkdirSync(installed, { recursive: true })
    writeFileSync(
      join(installed, 'package.json'),
      readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'),
    )
    const run = (args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        encoding: 'utf8',
        timeout: 120_000,
        cwd: dir,
      })
      return { status, text: stdout + stderr }
    }
    const made = run([join(PACKAGE_ROOT, 'scripts/types.mjs'), join(installed, 'dist/types')])
    t.equal(made.status, 0, made.text)
    for (const name of ['index.d.ts', 'admin-client.d.ts']) {
      const text = readFileSync(join(installed, 'dist/types', name), 'utf8')
      const imported = [...text.matchAll(/from '([^']+)'|import\("([^"]+)"\)/g)].map(
        ([, a, b]) => a ?? b,
      )
      const wanted =
        name === 'index.d.ts' ? ['./admin-client.js'] : ['./feed-kinds.js', './condition.js']
      t.strictSame([...new Set(imported)], wanted, name)
    }
    for (const name of ['condition.d.ts', 'feed-kinds.d.ts'])
      t.notMatch(readFileSync(join(installed, 'dist/types', name), 'utf8'), 'import', name)
    const checked = run([...TSC, '-p', dir])
    t.equal(checked.status, 0, checked.text)
  },
)
