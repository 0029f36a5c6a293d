import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { watchFolders } from '../../src/scenarios/scenario-files.ts'
import { optionsOf, startServer } from '../../src/server.ts'
import { createLog } from '../helper.ts'

// They wait for real time.
t.jobs = 8

const MAX_MS = 20_000

const down = (status: number) =>
  `title: ${status}!\nrules: [{ name: down, when: { operation: listUsers }, then: { respond: { status: ${status} } } }]\n`

async function watched(
  t: Test,
  files: Record<string, string>,
  more: object = {},
  whileItStarts = (_folder: string) => {},
) {
  const folder = join(t.testdir({ scenarios: files }), 'scenarios')
  const log = createLog()
  const options = {
    scenarios: folder,
    watch: true,
    memory: true,
    port: 0,
    clock: 'frozen',
    ...more,
  }
  const { url, adminUrl, close } = await startServer(optionsOf(options), log, {
    worldOpened: () => whileItStarts(folder),
  })
  t.teardown(close)
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body.
  const admin = async (method: string, path: string, body?: object): Promise<any> => {
    const sent = body && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    return (await fetch(adminUrl + path, { method, ...sent })).json()
  }
  return {
    folder,
    log,
    close,
    admin,
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),
    users: async () => (await fetch(`${url}/users`)).status,
    list: async () => {
      const { scenarios, problems } = await admin('GET', '/scenarios')
      return {
        names: scenarios.map(({ name }: { name: string }) => name) as string[],
        problems: problems as string[],
      }
    },
    /** Asks again and again until it is so. */
    async until<T>(ask: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
      const end = performance.now() + MAX_MS
      let found = await ask()
      while (!isSo(found) && performance.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        found = await ask()
      }
      t.ok(isSo(found), `in time: ${JSON.stringify(found)}`)
      return found
    },
  }
}

/** Until another watch, begun after the server's, has seen the folder change. */
function seenIn(folder: string): Promise<void> {
  return new Promise((resolve) => {
    const alive = setInterval(() => {}, 1_000)
    const watch = watchFolders([folder], async () => {
      watch.close()
      clearInterval(alive)
      resolve()
    })
  })
}

t.test('an edit of the active scenario is in force without a restart', async (t) => {
  const { write, users, until, admin, log } = await watched(
    t,
    { 'mine.yaml': down(500) },
    { scenario: 'mine' },
  )
  t.equal(await users(), 500)
  t.equal((await admin('GET', '/scenario')).rules[0].hits, 1)
  write('mine.yaml', down(503))
  await until(users, (status) => status === 503)
  t.match(log.lines.join('\n'), /\d+ scenarios reloaded/)
  t.ok((await admin('GET', '/scenario')).rules[0].hits > 1, 'a rule of the same name counts on')
  t.equal((await admin('GET', '/scenario')).title, '503!')
})

t.test('an edit during the start is in force, too', async (t) => {
  const { users, until } = await watched(
    t,
    { 'mine.yaml': down(500) },
    { scenario: 'mine' },
    (folder) => writeFileSync(join(folder, 'mine.yaml'), down(503)),
  )
  await until(users, (status) => status === 503)
})

t.test(
  'a bad edit leaves the last valid set active, and is reported with its position',
  async (t) => {
    const { folder, write, users, until, list, log } = await watched(
      t,
      { 'mine.yaml': down(500) },
      { scenario: 'mine' },
    )
    t.strictSame((await list()).problems, [])
    write('mine.yaml', 'rules:\n  - { when: { opration: getUser } }\n')
    const { problems, names } = await until(list, ({ problems }) => problems.length > 0)
    const expected = `${join(folder, 'mine.yaml')}:2:15: unknown key "opration"; did you mean "operation"?`
    t.ok(problems.includes(expected), problems.join('\n'))
    t.ok(log.lines.includes(expected), 'in the log too')
    t.ok(names.includes('mine'))
    t.equal(await users(), 500)
    write('mine.yaml', down(502))
    await until(list, ({ problems }) => problems.length === 0)
    t.equal(await users(), 502)
  },
)

t.test('new files, deleted ones and ones put in place of others are seen', async (t) => {
  const { folder, write, users, until, list, admin, log } = await watched(t, {
    'mine.yaml': down(500),
  })
  write('new.yaml', down(502))
  await until(list, ({ names }) => names.includes('new'))
  t.equal((await admin('PUT', '/scenario', { name: 'new' })).title, '502!')
  // As editors save: a file beside it, then a rename.
  write('.new.yaml.swp', down(504))
  renameSync(join(folder, '.new.yaml.swp'), join(folder, 'new.yaml'))
  await until(users, (status) => status === 504)
  await admin('PUT', '/scenario', { name: 'new' })
  unlinkSync(join(folder, 'new.yaml'))
  await until(list, ({ names }) => !names.includes('new'))
  t.equal((await admin('GET', '/scenario')).name, 'default', 'back to the start scenario')
  t.match(
    log.lines.join('\n'),
    /client "default": the active scenario new no longer exists; the active scenario is now default/,
  )
  t.equal(await users(), 200)
})

t.test('a folder in the folder is watched too', async (t) => {
  const { folder, write, until, list } = await watched(t, { 'mine.yaml': down(500) })
  mkdirSync(join(folder, 'bank'))
  write('bank/late.yaml', down(502))
  await until(list, ({ names }) => names.includes('late'))
  write('bank/later.yaml', down(502))
  await until(list, ({ names }) => names.includes('later'))
  unlinkSync(join(folder, 'bank/late.yaml'))
  await until(list, ({ names }) => !names.includes('late'))
})

t.test('a folder that is gone, or lacks the start scenario, is a bad edit', async (t) => {
  const { folder, write, users, until, list } = await watched(
    t,
    { 'mine.yaml': down(500) },
    { scenario: 'mine' },
  )
  rmSync(folder, { recursive: true })
  const { problems } = await until(list, ({ problems }) => problems.length > 0)
  t.match(problems, [/^--scenarios: there is no folder /])
  mkdirSync(folder)
  write('other.yaml', down(501))
  await until(list, ({ problems }) =>
    /^--scenario: there is no scenario "mine"/.test(problems[0] ?? ''),
  )
  t.equal(await users(), 500)
  write('mine.yaml', down(502))
  await until(list, ({ problems }) => problems.length === 0)
  t.equal(await users(), 502)
})

t.test('without --watch nothing is read again', async (t) => {
  const { folder, write, list, admin } = await watched(
    t,
    { 'mine.yaml': down(500) },
    { watch: false, scenario: 'mine' },
  )
  const seen = seenIn(folder)
  write('mine.yaml', down(503))
  await seen
  t.equal((await admin('GET', '/scenario')).title, '500!')
  t.strictSame((await list()).problems, [])
})

t.test('a server that has stopped watches no more', async (t) => {
  const { folder, write, close, log } = await watched(t, { 'mine.yaml': down(500) })
  await close()
  const seen = seenIn(folder)
  write('mine.yaml', down(503))
  await seen
  t.notMatch(log.lines.join('\n'), /read again|refused/)
})

t.test('a symbolic link that leads nowhere hides no change of another file', async (t) => {
  const folder = t.testdir({ 'a.yaml': 'x' })
  symlinkSync('loop.yaml', join(folder, 'loop.yaml'))
  const seen = seenIn(folder)
  writeFileSync(join(folder, 'a.yaml'), 'longer')
  await seen
  t.pass()
})

t.test('a file that moves away and leaves a symbolic link is seen', async (t) => {
  const folder = join(t.testdir({ scenarios: { 'a.yaml': 'x' } }), 'scenarios')
  const seen = seenIn(folder)
  renameSync(join(folder, 'a.yaml'), join(folder, '../a.yaml'))
  symlinkSync('../a.yaml', join(folder, 'a.yaml'))
  await seen
  t.pass()
})
