import t, { type Test } from 'tap'
import { libraryWith, start as startWith } from '../helper.ts'

/** A rule that answers a call of users with this status. */
const users = (status: number, more = '') =>
  `{ when: { operation: listUsers }, ${more} then: { respond: { status: ${status} } } }`
const FILES = {
  'down.yaml': `rules: [${users(503)}]\n`,
  'second.yaml': `rules: [${users(503, 'skip: 1, times: 1,')}]\n`,
  'run.yaml': `counts: run\nrules: [${users(503, 'times: 1,')}]\n`,
  'late.yaml': `rules: [${users(503)}]\ntimeline: [{ after: 2m, do: { use: other } }]\n`,
  'other.yaml': `rules: [${users(502)}]\n`,
  'mine.yaml': `rules: [${users(501)}]\n`,
  'reads.yaml': 'assume: { list_order: oldest_first }\n',
  'made.yaml': 'timeline: [{ do: { create_users: 1 } }]\n',
}

/** A sandbox whose start scenario is imposed. */
async function imposing(t: Test, scenario: string) {
  const library = libraryWith(t.testdir(FILES))
  const box = await startWith(t, { sandbox: { imposes: true, library }, begin: { scenario } })
  return {
    ...box,
    status: async (name = 'default', headers?: Record<string, string>) =>
      (await box.get(`/@${name}/v1/users`, headers)).status,
    admin: (name: string, path: string, body: object = {}) =>
      box.post(`/@${name}/__admin/${path}`, body),
    use: (name: string, scenario: string) =>
      box.put(`/@${name}/__admin/scenario`, { name: scenario }),
  }
}

t.test('what is imposed decides before all that a client chooses', async (t) => {
  const box = await imposing(t, 'down')
  const create = (body: object) => box.post('/__admin/clients', body)
  await create({ name: 'own', scenario: 'mine' })
  await create({ name: 'fork', from: { client: 'own' } })
  await create({ name: 'inline', scenarios: { down: { rules: [] } }, scenario: 'down' })
  for (const name of ['default', 'new', 'own', 'fork', 'inline']) {
    t.equal(await box.status(name), 503, name)
    t.match((await box.use(name, 'mine')).body, { name: 'mine', imposed: 'down' })
    t.equal(await box.status(name), 503, `${name} with a scenario of its own`)
    const rule = { when: { operation: 'listUsers' }, then: { respond: { status: 500 } } }
    await box.admin(name, 'rules', rule)
    t.equal(await box.status(name), 503, `${name} with a pushed rule`)
    t.equal(await box.status(name, { 'x-sandbox-scenario': 'mine' }), 503, `${name} with a header`)
    await box.admin(name, 'snapshots', { name: 'now' })
    await box.admin(name, 'snapshots/now/restore')
    t.equal(await box.status(name), 503, `${name} after a restore`)
    await box.put(`/@${name}/__admin/state`, (await box.get(`/@${name}/__admin/state`)).body)
    t.equal(await box.status(name), 503, `${name} after an import`)
    await box.admin(name, 'reset')
    t.equal(await box.status(name), 503, `${name} after a reset`)
  }
  const { body } = await box.get('/@own/__admin/scenario')
  t.match(body, { name: 'mine', imposed: 'down' })
  t.match(body.rules[0], { name: 'rule 1', scenario: 'down', hits: 1 })
  t.match(body.rules[1], { name: 'rule 1', hits: 0 })
  t.notOk('imposed' in (await box.get('/__admin/scenario')).body, 'it is the active one')
})

t.test('an imposed rule is counted once, and with counts: run over all', async (t) => {
  const box = await imposing(t, 'second')
  const three = async () => [await box.status(), await box.status(), await box.status()]
  t.strictSame(await three(), [200, 503, 200])
  await box.use('default', 'second')
  t.strictSame(await three(), [200, 503, 200])
  await box.use('default', 'mine')
  t.strictSame(await three(), [501, 501, 501], 'it has acted')
  const run = await imposing(t, 'run')
  t.strictSame([await run.status(), await run.status('new')], [503, 200], 'over all clients')
  await run.admin('default', 'reset')
  t.equal(await run.status(), 200, 'and all resets')
})

t.test('it lasts until its own timeline activates another scenario', async (t) => {
  const box = await imposing(t, 'late')
  const advance = (name: string, by: string) => box.admin(name, 'clock/advance', { by })
  t.equal(await box.status(), 503)
  await box.use('chosen', 'mine')
  t.equal(await box.status('chosen'), 503)
  await box.admin('chosen', 'snapshots', { name: 'early' })
  for (const name of ['default', 'chosen']) await advance(name, '2m')
  t.equal(await box.status(), 502, 'the other one is active')
  t.equal(await box.status('chosen'), 501, 'the choice of a call stays')
  t.notOk('imposed' in (await box.get('/@chosen/__admin/scenario')).body)
  t.equal(await box.status('new'), 503, 'a new client is at its start')

  await box.admin('chosen', 'snapshots/early/restore')
  t.equal(await box.status('chosen'), 503)
  await advance('chosen', '119s')
  t.equal(await box.status('chosen'), 503)
  await advance('chosen', '1s')
  t.equal(await box.status('chosen'), 501)

  await box.use('chosen', 'late')
  t.equal(await box.status('chosen'), 503, 'activated again it starts again')
  await box.admin('default', 'reset')
  t.equal(await box.status(), 503)
  await advance('default', '2m')
  t.equal(await box.status(), 502)
})

t.test('its readings have priority over those of calls, and its timeline runs once', async (t) => {
  const box = await imposing(t, 'reads')
  await box.use('chosen', 'mine')
  const { body } = await box.put('/@chosen/__admin/assumptions', { list_order: 'newest_first' })
  const one = body.assumptions.find(({ name }: { name: string }) => name === 'list_order')
  t.match(one, { reading: 'oldest_first', source: 'imposed' })

  const made = await imposing(t, 'made')
  await made.post('/__admin/clients', { name: 'own', scenario: 'mine' })
  for (const name of ['default', 'new', 'own'])
    t.equal((await made.get(`/@${name}/__admin/client`)).body.counts.users, 111, name)
})

t.test('the default scenario imposes nothing', async (t) => {
  const box = await imposing(t, 'default')
  t.equal(await box.status(), 200)
  await box.use('default', 'mine')
  t.equal(await box.status(), 501)
})
