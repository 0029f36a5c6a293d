import t, { type Test } from 'tap'
import { createLog, libraryWith, PAYMENT, type StartOptions, start } from './helper.ts'

const CLIENTS = '/__admin/clients'

type Row = Record<string, string>

/** A sandbox with calls for its clients. */
async function startNaming(t: Test, sandbox: StartOptions['sandbox'] = {}) {
  const box = await start(t, { sandbox })
  const create = (client: object) => box.post(CLIENTS, client)
  const list = async () => (await box.get(CLIENTS)).body.clients
  const inList = async (name: string) =>
    (await list()).find((client: { name: string }) => client.name === name)
  return { ...box, create, list, inList }
}

/** The shipped scenarios, and more of them by file name. */
const libraryOf = (t: Test, files: Record<string, string>) => libraryWith(t.testdir(files))

t.test('a restart continues every client, and applies other start options', async (t) => {
  const file = `${t.testdir({})}/db.json`
  const before = await startNaming(t, { file })
  await before.create({ name: 'idle' })
  await before.create({ name: 'chosen', scenario: 'slow', clock: '2030-01-01T00:00:00Z' })
  await before.create({ name: 'paying' })
  await before.post('/@paying/v1/transaction', PAYMENT)
  t.match(await before.inList('chosen'), { scenario: 'slow', now: '2030-01-01T00:00:00.000Z' })
  const listed = await before.list()
  t.equal((await before.get('/__admin/ready')).body.clients, listed.length)
  await before.close()

  const after = await startNaming(t, { file })
  t.same(await after.list(), listed)
  await after.close()

  const clock = '2031-01-01T00:00:00.000Z'
  const options = { randomSeed: 1, clock, clockSpeed: 1, scenario: 'slow' }
  const changed = await startNaming(t, { file, start: options })
  t.match(await changed.inList('idle'), { scenario: 'slow', now: clock })
  t.match(await changed.inList('chosen'), { scenario: 'slow', now: '2030-01-01T00:00:00.000Z' })
})

t.test('the time of every client goes on after the wall clock was set back', async (t) => {
  const file = `${t.testdir({})}/db.json`
  const options = { randomSeed: 1, clock: 'real', clockSpeed: 1, scenario: 'default' }
  let wall = Date.parse('2026-03-01T12:00:00Z')
  const startAt = () => startNaming(t, { file, start: options, wall: () => wall })
  const before = await startAt()
  await before.create({ name: 'idle' })
  t.match(await before.inList('idle'), { now: '2026-03-01T12:00:00.000Z' })
  await before.close()

  wall -= 3_600_000
  const after = await startAt()
  wall += 60_000
  t.match(await after.inList('idle'), { now: '2026-03-01T12:01:00.000Z' })
})

t.test('a client whose start scenario was deleted gets that of the sandbox', async (t) => {
  // Each creates the test's folder anew, so the data file comes last.
  const without = libraryOf(t, {})
  const files = { 'mine.json': '{"rules":[]}', 'other.json': '{"rules":[]}' }
  const library = libraryOf(t, files)
  const file = `${t.testdir({})}/db.json`
  const log = createLog()
  const startIn = (scenario: string, found = without) =>
    startNaming(t, {
      file,
      library: found,
      log,
      start: { randomSeed: 1, clock: 'frozen', clockSpeed: 1, scenario },
    })
  const before = await startIn('slow', library)
  for (const name of ['mine', 'chosen', 'inline']) await before.create({ name, scenario: 'mine' })
  await before.put('/@chosen/__admin/scenario', { name: 'late-reversals' })
  const definition = { rules: [], extends: 'other' }
  await before.put('/@inline/__admin/scenario', { definition })
  await before.create({ name: 'other' })
  await before.put('/@other/__admin/scenario', { name: 'other' })
  await before.post('/@other/__admin/snapshots', { name: 'on-other' })
  await before.close()

  const after = await startIn('slow')
  const activeIn = async ({ list }: typeof after) =>
    Object.fromEntries((await list()).map((one: Row) => [one['name'], one['scenario']]))
  const active = { mine: 'slow', chosen: 'late-reversals', inline: 'slow', other: 'slow' }
  t.match(await activeIn(after), active)
  const gone = /its start scenario mine no longer exists, so it falls back to slow\. .*--scenarios/
  const replaced = (name: string, by: string) =>
    new RegExp(`the active scenario ${name} no longer exists; the active scenario is now ${by}$`)
  const warningsOf = (name: string) =>
    log.lines.filter((one) => one.startsWith(`client "${name}": `))
  t.match(warningsOf('mine'), [gone, replaced('mine', 'slow')])
  t.match(warningsOf('chosen'), [gone])
  t.match(warningsOf('inline'), [gone, replaced('inline', 'slow')])
  t.match(warningsOf('other'), [replaced('other', 'slow')])
  t.equal((await after.post('/@other/__admin/snapshots/on-other/restore', {})).status, 200)
  t.match(await activeIn(after), active, 'a snapshot does not bring it back')
  t.match(log.lines.at(-1), replaced('other', 'slow'))
  t.equal((await after.post('/@chosen/__admin/reset', {})).status, 200)
  t.match(await activeIn(after), { ...active, chosen: 'slow' })
  await after.put('/@inline/__admin/scenario', { name: 'flaky-network' })
  await after.close()

  const other = await startIn('late-reversals')
  const started = { mine: 'late-reversals', chosen: 'late-reversals', inline: 'flaky-network' }
  t.match(await activeIn(other), started, 'another start scenario of the sandbox')
  await other.close()

  const restored = await startIn('late-reversals', library)
  t.match(await activeIn(restored), { mine: 'mine', chosen: 'mine', inline: 'flaky-network' })
  restored.sandbox.changeLibrary({ library: without })
  t.match(await activeIn(restored), started, 'with --watch too')
  t.match(log.lines.at(-1), replaced('mine', 'late-reversals'))
  restored.sandbox.changeLibrary({ library })
  t.match(await activeIn(restored), { mine: 'mine', chosen: 'mine', inline: 'flaky-network' })
  t.match(log.lines.at(-1), /its start scenario exists again; the active scenario is now mine/)
})
