import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { call, run, serve } from './program.ts'

const user = (n: number) => ({ email: `u${n}@example.com`, mobile: `98765000${10 + n}` })
const emailsOf = async (url: string): Promise<string[]> =>
  (await call(`${url}/users?limit=100`)).body.data.users.map(
    ({ email }: { email: string }) => email,
  )

/** A data file with three users of its own: stopped cleanly, all in the document; killed, all in the journal. */
async function withUsers(t: Test, end: 'SIGTERM' | 'SIGKILL') {
  const dir = t.testdir({})
  const data = join(dir, 'db.json')
  const program = await serve(t, ['--data', data])
  for (let n = 0; n < 3; n++) t.equal((await call(`${program.url}/user`, user(n))).status, 201)
  await program.stop(end)
  return { dir, data, journal: join(dir, 'db.json.journal') }
}

const copiesIn = (dir: string) => readdirSync(dir).filter((name) => name.includes('.damaged-'))

/** Changes one byte of the line that holds a text. */
function bend(file: string, text: string): Buffer {
  const content = readFileSync(file, 'utf8')
  const at = content.indexOf(text)
  if (at < 0) throw new Error(`${file} does not hold ${text}`)
  writeFileSync(file, `${content.slice(0, at)}X${content.slice(at + 1)}`)
  return readFileSync(file)
}

t.test('a data file that a live process holds is refused with its number', async (t) => {
  const data = join(t.testdir({}), 'db.json')
  const holder = await serve(t, ['--data', data])
  t.ok(existsSync(`${data}.lock`))
  const { code, stderr, stdout } = await run(['--port', '0', '--data', data])
  t.equal(code, 3)
  t.match(stderr, `${data} is in use by process ${holder.child.pid} on ${hostname()}`)
  t.match(stderr, /--data FILE or with --memory/)
  t.equal(stdout, '')
  t.equal((await call(`${holder.url}/users`)).status, 200, 'who holds it goes on')
  await holder.stop()
  t.notOk(existsSync(`${data}.lock`), 'a clean stop gives the lock back')
  await (await serve(t, ['--data', data])).stop()
})

/** Replaces a text of a file. */
function edit(file: string, from: string | RegExp, to: string): Buffer {
  const content = readFileSync(file, 'utf8')
  const edited = content.replace(from, to)
  if (edited === content) throw new Error(`${file} does not hold ${from}`)
  writeFileSync(file, edited)
  return readFileSync(file)
}

t.test('db.json is there from the start, and a hand edit is taken', async (t) => {
  const { data } = await withUsers(t, 'SIGTERM')
  const { clients } = JSON.parse(readFileSync(data, 'utf8'))
  t.equal(clients.default.tables.users.length, 113)
  const running = await serve(t, ['--data', data])
  t.equal(JSON.parse(readFileSync(data, 'utf8')).format, 6)
  await running.stop()
  edit(data, 'u1@example.com', 'edited@example.com')
  edit(data, /\{[^\n]*u0@example\.com[^\n]*\n/, '')
  const next = await serve(t, ['--data', data])
  const emails = await emailsOf(next.url)
  t.same(emails.slice(0, 2), ['u2@example.com', 'edited@example.com'])
  t.notOk(emails.includes('u0@example.com'))
  await next.stop()
})

t.test('what a merge can leave twice is refused with its place', async (t) => {
  const { data } = await withUsers(t, 'SIGTERM')
  const whole = readFileSync(data, 'utf8')
  edit(data, '"draws":', '"draws":1,"draws":')
  t.match(
    (await run(['--port', '0', '--data', data])).stderr,
    /db\.json:\d+:\d+: has a key that is there twice/,
  )
  const document = JSON.parse(whole)
  document.clients.copy = document.clients.default
  writeFileSync(data, JSON.stringify(document))
  const { code, stderr } = await run(['--port', '0', '--data', data])
  t.equal(code, 4)
  t.match(stderr, /access_token: is the same as in an earlier client/)
  t.match(stderr, /client_id: is the same as in an earlier client/)
})

t.test('an edit that is not valid is refused with all problems and their places', async (t) => {
  const { dir, data } = await withUsers(t, 'SIGTERM')
  edit(data, 'u0@example.com', 'no address')
  edit(data, /"mobile":"\+?\d*98765000(11)"/, '"mobile":"nine"')
  const edited = edit(data, '"speed":1', '"speed":"fast"')
  const refused = await run(['--port', '0', '--data', data])
  t.equal(refused.code, 4)
  const lines = edited.toString().split('\n')
  const place = (text: string) => {
    const line = lines.findIndex((one) => one.includes(text))
    return `db.json:${line + 1}:${lines[line]!.indexOf(text) + 1}: `
  }
  t.match(
    refused.stderr,
    `${place('"no address"')}clients.default.tables.users[110].email: must be an e-mail address: one @, and a domain with a dot; found "no address"`,
  )
  t.match(refused.stderr, `${place('"nine"')}clients.default.tables.users[111].mobile: `)
  t.match(
    refused.stderr,
    `${place('"fast"')}clients.default.clock.speed: must be a number; found "fast"`,
  )
  t.match(refused.stderr, /nothing was changed.*Repair it, or start with --reset/s)
  t.ok(readFileSync(data).equals(edited), 'it is left as it is')
  t.same(copiesIn(dir), [])
})

t.test('the fixtures of a client, to which a reset returns, are checked too', async (t) => {
  const data = join(t.testdir({}), 'db.json')
  const first = await serve(t, ['--data', data])
  const own = { user_id: '00000000-0000-4000-8000-00000000000a', email: 'own@example.com' }
  const users = [{ ...own, mobile: '9876512345', created_at: '2025-01-01T00:00:00.000Z' }]
  const root = first.url.replace(/\/v1$/, '')
  const made = await call(`${root}/__admin/clients`, { name: 'w', fixtures: { users } })
  t.equal(made.status, 201)
  t.equal((await call(`${root}/@w/v1/user`, user(1))).status, 201)
  await first.stop()
  const { fixtures } = JSON.parse(readFileSync(data, 'utf8'))
  t.equal(Object.values<{ users: object[] }>(fixtures)[0]!.users.length, 1)
  edit(data, /("fixtures":\{[\s\S]*?)own@example\.com/, '$1nonsense')
  const refused = await run(['--port', '0', '--data', data])
  t.equal(refused.code, 4)
  t.match(refused.stderr, /fixtures\.[^\n]*users\[0\]\.email: must be .*nonsense/)
  edit(data, 'nonsense', 'edited@example.com')
  const next = await serve(t, ['--data', data])
  const client = `${next.url.replace(/\/v1$/, '')}/@w`
  await call(`${client}/__admin/reset`, {})
  t.same(await emailsOf(`${client}/v1`), ['edited@example.com'])
  await next.stop()
})

t.test(
  'a document that is no data file of this version is refused, and left as it is',
  async (t) => {
    const other = /format .*only reads format 6.*Nothing was changed.*--reset/
    for (const text of [
      '',
      'null',
      '[]',
      '{}',
      '\0\0',
      '{"format":6,"clients":[]}',
      '{"format":7}',
    ]) {
      const dir = t.testdir({ 'db.json': text })
      const refused = await run(['--port', '0', '--data', join(dir, 'db.json')])
      t.equal(refused.code, 4, `${JSON.stringify(text)}: ${refused.stderr}`)
      if (text.includes('7')) t.match(refused.stderr, other)
      t.equal(readFileSync(join(dir, 'db.json'), 'utf8'), text)
      t.same(readdirSync(dir), ['db.json'])
    }
  },
)

t.test('a journal that cannot be applied is refused; without it the start goes on', async (t) => {
  const bent = (journal: string) => bend(journal, 'u1@example.com')
  const cases: [what: string, change: (data: string, journal: string) => void, says: RegExp][] = [
    [
      'damaged',
      (_, journal) => bent(journal),
      /db\.json\.journal: line 3 is not as it was written/,
    ],
    [
      'of an edited document',
      (data) => edit(data, '"speed":1', '"speed":2'),
      /db\.json was edited or replaced, but the journal .*db\.json\.journal of a killed sandbox still has 3 changes.*put the earlier content/,
    ],
    [
      'of a document that was moved away',
      (data) => rmSync(data),
      /db\.json was removed, but the journal .* still has 3 changes.*put the earlier file back/,
    ],
  ]
  for (const [what, change, says] of cases) {
    const { dir, data, journal } = await withUsers(t, 'SIGKILL')
    change(data, journal)
    const files = () =>
      readdirSync(dir).flatMap((name) =>
        name.endsWith('.lock') ? [] : [[name, readFileSync(join(dir, name), 'latin1')]],
      )
    const before = files()
    const refused = await run(['--port', '0', '--data', data])
    t.equal(refused.code, 4, what)
    t.match(refused.stderr, says)
    t.match(refused.stderr, /To start .*, move (?:it|the journal) away.*--reset/is)
    t.same(files(), before, 'nothing is changed')
    renameSync(journal, `${journal}.away`)
    const next = await serve(t, ['--data', data])
    t.notOk((await emailsOf(next.url)).some((email) => /^u\d@/.test(email)))
    t.equal((await call(`${next.adminUrl}/clock`)).body.speed, what.includes('edited') ? 2 : 1)
    await next.stop()
  }
})

t.test('an edit of a running sandbox is kept beside, and its own data stays', async (t) => {
  const data = join(t.testdir({}), 'db.json')
  const program = await serve(t, ['--data', data])
  writeFileSync(data, 'an edit')
  t.equal((await call(`${program.url}/user`, user(0))).status, 201)
  t.match((await call(`${program.adminUrl}/health`)).body, { status: 'healthy' })
  const { stderr } = await program.stop()
  t.match(stderr, /edited while the sandbox runs.*db\.json\.edited-1/)
  t.equal(readFileSync(`${data}.edited-1`, 'utf8'), 'an edit')
  t.match(readFileSync(data, 'utf8'), 'u0@example.com')
})

t.test('--reset starts anew from a damaged journal or document and keeps copies', async (t) => {
  for (const [end, file] of [
    ['SIGTERM', 'data'],
    ['SIGKILL', 'journal'],
  ] as const) {
    const at = await withUsers(t, end)
    const damaged =
      file === 'data' ? edit(at.data, '"users":[', '"users":') : bend(at.journal, 'u1')
    const stderr = file === 'data' ? /db\.json:\d+:\d+: is not JSON: / : /line \d is not as it was/
    t.match(await run(['--port', '0', '--data', at.data]), { code: 4, stderr })
    t.ok(readFileSync(at[file]).equals(damaged), 'it is left as it is')
    const anew = await serve(t, ['--data', at.data, '--reset'])
    t.notOk(
      (await emailsOf(anew.url)).some((email) => /^[Xu]\d@/.test(email)),
      file,
    )
    t.equal((await call(`${anew.url}/users`)).body.data.total_users, 110)
    t.match(anew.stderr(), /The sandbox starts with a new data file\. Backup: /)
    t.ok(copiesIn(at.dir).some((name) => readFileSync(join(at.dir, name)).equals(damaged)))
    await anew.stop()
    await (await serve(t, ['--data', at.data])).stop()
  }
})

t.test('a sound data file meets --reset unharmed', async (t) => {
  const { dir, data } = await withUsers(t, 'SIGTERM')
  const program = await serve(t, ['--data', data, '--reset'])
  t.ok((await emailsOf(program.url)).includes('u1@example.com'))
  await program.stop()
  t.same(readdirSync(dir).sort(), ['db.json', 'db.json.journal'])
})

t.test('two names of one file are one file', async (t) => {
  const dir = t.testdir({ vol: {}, link: t.fixture('symlink', 'vol/db.json') })
  const first = await serve(t, ['--data', join(dir, 'link')])
  t.equal((await call(`${first.url}/user`, user(0))).status, 201)
  const second = await run(['start', '--port', '0', '--data', join(dir, 'vol/db.json')])
  t.equal(second.code, 3, second.stderr)
  await first.stop()
  t.ok(lstatSync(join(dir, 'link')).isSymbolicLink())
  const again = await serve(t, ['--data', join(dir, 'vol/db.json')])
  t.ok((await emailsOf(again.url)).includes(user(0).email))
  await again.stop()
})
