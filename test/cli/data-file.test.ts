import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
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
  return { dir, data, journal: join(dir, 'db.json.journal.0') }
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

t.test('the lock of a dead process is taken over at once', async (t) => {
  const { data } = await withUsers(t, 'SIGKILL')
  t.ok(existsSync(`${data}.lock`), 'it left its lock behind')
  const dead = JSON.parse(readFileSync(`${data}.lock`, 'utf8')).pid
  const next = await serve(t, ['--data', data])
  t.match(JSON.parse(readFileSync(`${data}.lock`, 'utf8')), { pid: next.child.pid })
  t.not(next.child.pid, dead)
  t.ok((await emailsOf(next.url)).includes('u2@example.com'))
  await next.stop()
})

t.test('a lock names a process by its start too, not by its number alone', async (t) => {
  const data = join(t.testdir({}), 'db.json')
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  t.teardown(() => other.kill('SIGKILL'))
  await once(other, 'spawn')
  const lock = (startedAt: string) =>
    writeFileSync(`${data}.lock`, JSON.stringify({ pid: other.pid, host: hostname(), startedAt }))
  lock('')
  t.match(await run(['--port', '0', '--data', data]), {
    code: 3,
    stderr: new RegExp(`in use by process ${other.pid}`),
  })
  lock('another boot:1')
  if (process.platform === 'linux') await (await serve(t, ['--data', data])).stop()
})

t.test('a damaged document is refused; --recover keeps what stands before', async (t) => {
  const { dir, data } = await withUsers(t, 'SIGTERM')
  const damaged = bend(data, 'u1@example.com')
  const refused = await run(['--port', '0', '--data', data])
  t.equal(refused.code, 4)
  t.match(refused.stderr, /damaged.*db\.json: line \d+, byte \d+: /)
  t.match(refused.stderr, /--recover .*--reset/)
  t.ok(readFileSync(data).equals(damaged), 'it is left as it is')
  t.same(copiesIn(dir), [])
  t.equal((await run(['--port', '0', '--data', data])).code, 4, 'and refused again')

  const recovered = await serve(t, ['--data', data, '--recover'])
  const emails = await emailsOf(recovered.url)
  t.notOk(
    emails.some((email) => /^[Xu][12]@/.test(email)),
    'the damaged row and what follows it',
  )
  t.ok(emails.includes('u0@example.com'), 'the rows before it are there')
  t.match(recovered.stderr(), /The content before it is recovered/)
  const copy = copiesIn(dir).find((name) => name.startsWith('db.json.'))
  t.match(recovered.stderr(), copy)
  t.ok(readFileSync(join(dir, copy!)).equals(damaged), 'a copy is kept')
  t.equal((await call(`${recovered.url}/user`, user(7))).status, 201)
  await recovered.stop()
  const again = await serve(t, ['--data', data])
  t.same(
    (await emailsOf(again.url)).slice(1),
    emails.slice(0, -1),
    'the next start finds no damage',
  )
  await again.stop()
})

t.test('a data file of another version is refused, and the message says what to do', async (t) => {
  const { data } = await withUsers(t, 'SIGTERM')
  const older = readFileSync(data, 'utf8').replace('"payoutSandbox":5', '"payoutSandbox":1')
  writeFileSync(data, older)
  const refused = await run(['--port', '0', '--data', data, '--recover'])
  t.equal(refused.code, 4)
  t.match(refused.stderr, /of another version.*it has format 1.*__admin\/state.*--reset/)
  t.equal(readFileSync(data, 'utf8'), older)

  // A process of format 3 that was killed before its first document.
  const killed = join(t.testdir({ 'db.journal.jsonl': '' }), 'db.json')
  const journal = await run(['--port', '0', '--data', killed])
  t.equal(journal.code, 4)
  t.match(journal.stderr, /of another version.*db\.journal\.jsonl.*it has format 3 or older/)
})

t.test('a damaged journal is refused; --recover keeps what stands before', async (t) => {
  const { dir, data, journal } = await withUsers(t, 'SIGKILL')
  const damaged = bend(journal, 'u1@example.com')
  const refused = await run(['--port', '0', '--data', data])
  t.equal(refused.code, 4)
  t.match(refused.stderr, /db\.json\.journal\.0: line \d+, byte \d+: the checksum does not match/)
  t.ok(readFileSync(journal).equals(damaged), 'it is left as it is')
  t.same(copiesIn(dir), [])

  const recovered = await serve(t, ['--data', data, '--recover'])
  const own = (await emailsOf(recovered.url)).filter((email) => /^[Xu]\d@/.test(email))
  t.same(own, ['u0@example.com'], 'up to the damage, and no further')
  const copies = copiesIn(dir)
  t.ok(
    copies.some((name) => readFileSync(join(dir, name)).equals(damaged)),
    'a copy is kept',
  )
  t.equal((await call(`${recovered.url}/user`, user(8))).status, 201)
  await recovered.stop('SIGKILL')
  const again = await serve(t, ['--data', data])
  const after = (await emailsOf(again.url)).filter((email) => /^[Xu]\d@/.test(email))
  t.same(after, ['u8@example.com', 'u0@example.com'], 'what came after is there')
  await again.stop()
})

t.test('--reset starts anew from a damaged journal or document and keeps copies', async (t) => {
  for (const [end, file] of [
    ['SIGTERM', 'data'],
    ['SIGKILL', 'journal'],
  ] as const) {
    const at = await withUsers(t, end)
    const damaged = bend(at[file], 'u1@example.com')
    t.equal((await run(['--port', '0', '--data', at.data])).code, 4)
    const anew = await serve(t, ['--data', at.data, '--reset'])
    t.notOk(
      (await emailsOf(anew.url)).some((email) => /^[Xu]\d@/.test(email)),
      file,
    )
    t.equal((await call(`${anew.url}/users`)).body.data.total_users, 110)
    t.match(
      anew.stderr(),
      /The sandbox starts with an empty data file; copies of the old files are /,
    )
    t.ok(copiesIn(at.dir).some((name) => readFileSync(join(at.dir, name)).equals(damaged)))
    await anew.stop()
    await (await serve(t, ['--data', at.data])).stop()
  }
})

t.test('a sound data file meets --recover and --reset unharmed', async (t) => {
  const { dir, data } = await withUsers(t, 'SIGTERM')
  for (const flag of ['--recover', '--reset']) {
    const program = await serve(t, ['--data', data, flag])
    t.ok((await emailsOf(program.url)).includes('u1@example.com'), flag)
    await program.stop()
  }
  t.same(copiesIn(dir), [])
})

t.test('a journal cut in its last line loses that line alone, and says so', async (t) => {
  const { data, journal } = await withUsers(t, 'SIGKILL')
  const content = readFileSync(journal)
  writeFileSync(journal, content.subarray(0, content.length - 20))
  const program = await serve(t, ['--data', data])
  const own = (await emailsOf(program.url)).filter((email) => /^u\d@/.test(email))
  t.same(own, ['u1@example.com', 'u0@example.com'])
  t.match(program.stderr(), /db\.json\.journal\.0/)
  await program.stop()
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

t.test(
  'a folder that cannot be created is an error at once',
  { skip: !existsSync('/proc/self') && 'there is no /proc here' },
  async (t) => {
    const { code, stderr } = await run(['start', '--port', '0', '--data', '/proc/x/db.json'])
    t.equal(code, 5, stderr)
  },
)
