import { join } from 'node:path'
import t from 'tap'
import { pluck, start } from '../helper.ts'

const NAME = 'processing_status'
type Started = Awaited<ReturnType<typeof start>>

/** The reading in force, and where it comes from. */
async function inForce({ get }: Pick<Started, 'get'>, base = ''): Promise<string> {
  const { body } = await get(`${base}/__admin/assumptions`)
  const { reading, source } = body.assumptions.find((one: { name: string }) => one.name === NAME)
  return `${reading} from ${source}`
}
const SCENARIO = { definition: { assume: { [NAME]: 'processing' } } }
const CHOSEN = { [NAME]: 'processing' }

t.test('a call has priority over the scenario, the scenario over the start', async (t) => {
  const sandbox = await start(t, { assume: { [NAME]: 'pending' } })
  const { put } = sandbox
  t.equal(await inForce(sandbox), 'pending from start')
  t.equal((await put('/__admin/scenario', SCENARIO)).status, 200)
  t.equal(await inForce(sandbox), 'processing from scenario')
  const set = await put('/__admin/assumptions', { [NAME]: 'pending' })
  t.equal(set.status, 200)
  t.equal(await inForce(sandbox), 'pending from call')
  await put('/__admin/assumptions', { [NAME]: null })
  t.equal(await inForce(sandbox), 'processing from scenario')
  await put('/__admin/scenario', { name: 'default' })
  t.equal(await inForce(sandbox), 'pending from start')
})

t.test('invalid readings change nothing', async (t) => {
  const sandbox = await start(t)
  const { status, body } = await sandbox.put('/__admin/assumptions', {
    [NAME]: 'processing',
    idempotency_kay: 'honoured',
    idempotency: 'honoured',
    // Several have this prefix.
    webhook: 'none',
    list_order: 'random',
    token_lifetime: '0s',
  })
  t.equal(status, 400)
  t.strictSame(
    pluck(body.errors, 'field').join(),
    'idempotency_kay,idempotency,webhook,list_order,token_lifetime',
  )
  t.match(pluck(body.errors, 'message'), [
    'is not an assumption (did you mean idempotency_key?); found "honoured"',
    'is not an assumption (did you mean idempotency_key?); found "honoured"',
    'is not an assumption (docs/assumptions.md lists them all); found "none"',
    'takes newest_first or oldest_first; found "random"',
    /^takes endless or DURATION /,
  ])
  t.equal(await inForce(sandbox), 'pending from default')
})

t.test('a client has readings of its own, and a fork has those of its source', async (t) => {
  const sandbox = await start(t, { assume: { list_order: 'oldest_first' } })
  const { post, put } = sandbox
  t.equal((await post('/__admin/clients', { name: 'one', assume: CHOSEN })).status, 201)
  t.equal(await inForce(sandbox, '/@one'), 'processing from start')
  t.equal(await inForce(sandbox), 'pending from default')
  const { body } = await sandbox.get('/@one/__admin/assumptions')
  t.match(
    body.assumptions.find((one: { name: string }) => one.name === 'list_order'),
    { reading: 'oldest_first', source: 'start' },
  )
  await put('/__admin/assumptions', CHOSEN)
  await post('/__admin/clients', { name: 'fork', from: { client: 'default' } })
  t.equal(await inForce(sandbox, '/@fork'), 'processing from call')
  await post('/__admin/clients', {
    name: 'other',
    from: { client: 'one' },
    assume: { [NAME]: 'pending' },
  })
  t.equal(await inForce(sandbox, '/@other'), 'pending from start')
  const bad = await post('/__admin/clients', { name: 'bad', assume: { [NAME]: 'x' } })
  t.equal(bad.body.errors[0].field, `assume.${NAME}`)
})

t.test('a reset goes back to the readings of the start; only its part does', async (t) => {
  const sandbox = await start(t)
  await sandbox.put('/__admin/assumptions', CHOSEN)
  await sandbox.post('/__admin/reset', { parts: ['data', 'clock', 'scenario', 'requests'] })
  t.equal(await inForce(sandbox), 'processing from call')
  await sandbox.post('/__admin/reset', { parts: ['assumptions'] })
  t.equal(await inForce(sandbox), 'pending from default')
  await sandbox.put('/__admin/assumptions', CHOSEN)
  await sandbox.post('/__admin/reset')
  t.equal(await inForce(sandbox), 'pending from default')
})

t.test('a restart, a snapshot and an exported state keep the readings', async (t) => {
  const file = join(t.testdir({}), 'db.json')
  const first = await start(t, { sandbox: { file } })
  await first.put('/__admin/assumptions', CHOSEN)
  await first.post('/__admin/snapshots', { name: 's' })
  const { body: state } = await first.get('/__admin/state')
  t.strictSame(state.assumptions, CHOSEN)
  await first.close()
  const sandbox = await start(t, { sandbox: { file }, assume: { list_order: 'oldest_first' } })
  for (const back of [
    async () => {},
    () => sandbox.post('/__admin/snapshots/s/restore'),
    () => sandbox.put('/__admin/state', state),
  ]) {
    await back()
    t.equal(await inForce(sandbox), 'processing from call')
    await sandbox.post('/__admin/reset')
    t.equal(await inForce(sandbox), 'pending from default')
  }
})

t.test('a scenario has the readings of the one that it extends, its own first', async (t) => {
  const sandbox = await start(t)
  const { put, get } = sandbox
  const definition = { extends: 'default', assume: { list_order: 'oldest_first' } }
  await put('/__admin/scenario', { definition })
  const { body } = await get('/__admin/assumptions')
  t.equal(
    body.assumptions.find((one: { name: string }) => one.name === 'list_order').source,
    'scenario',
  )
  const wrong = { assume: { list_ordr: 'oldest_first', idempotency_key: 'honored' } }
  const { text } = await put('/__admin/scenario', { definition: wrong })
  t.match(text, /ignored or honoured.*list_ordr/)
})
