import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { ErrorResponse } from '../../src/model/errors.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { start } from '../helper.ts'
import { exchange } from '../listening.ts'

type Box = Awaited<ReturnType<typeof start>>

/** Every admin call, with something in the place of its parameter. */
const CALLS = ADMIN_CALLS.map((call) => ({
  ...call,
  path: `/__admin${call.url.replace(/:\w+/, 'some-name')}`,
}))

/** Everything that a call could have changed. */
const content = ({ sandbox }: Box) =>
  JSON.stringify(
    [...sandbox.clients.values()].map(({ name, tables }) => [
      name,
      [...tables.snapshots.keys()],
      Object.entries(tables.tables).map(([name, table]) => [name, [...table.rows()]]),
    ]),
  )

t.test('every admin call rejects foreign hosts, foreign sites and missing tokens', async (t) => {
  const box = await start(t, { app: { adminToken: 'admin-secret' } })
  const good = { host: '127.0.0.1:4310', 'x-admin-token': 'admin-secret' }
  const own = 'http://127.0.0.1:4310'
  // More spellings are in the tests of each guard; here it matters that no call is without one.
  const refused: [what: Record<string, string>, error: string][] = [
    [{ host: 'evil.example:4310' }, 'host_not_allowed'],
    [{ host: '127.0.0.1.evil.example' }, 'host_not_allowed'],
    [{ host: 'user@127.0.0.1' }, 'host_not_allowed'],
    [{ origin: 'https://evil.example' }, 'cross_site_rejected'],
    [{ origin: 'http://127.0.0.1:3000' }, 'cross_site_rejected'],
    [{ origin: 'null' }, 'cross_site_rejected'],
    [{ 'sec-fetch-site': 'same-site' }, 'cross_site_rejected'],
    [{ origin: own, 'sec-fetch-site': 'cross-site' }, 'cross_site_rejected'],
    ...['', 'admin-secre', 'admin-secret ,admin-secret', 'ADMIN-SECRET', 'sbx_test_token'].map(
      (token): [Record<string, string>, string] => [
        { 'x-admin-token': token },
        'admin_token_required',
      ],
    ),
  ]
  const before = content(box)
  t.ok(CALLS.length >= 30)
  for (const { method, path, open, raw, id } of CALLS) {
    for (const base of ['', '/@stranger']) {
      for (const [headers, error] of refused) {
        if (error === 'admin_token_required' && (open || raw)) continue
        const answer = await box.call(method, base + path, undefined, { ...good, ...headers })
        if (answer.body.error !== error)
          t.fail(`${id} ${base} ${JSON.stringify(headers)}: ${answer.status} ${answer.text}`)
        if ('access-control-allow-origin' in answer.headers) t.fail(`${id} answers CORS`)
        if (answer.text.includes('admin-secret')) t.fail(`${id} shows the token`)
      }
    }
    const wrong = { ...good, authorization: 'Bearer nobodys' }
    if (!open) t.equal((await box.call(method, path, undefined, wrong)).status, 401, id)
    const preflight = await box.call('OPTIONS', path, undefined, { ...good, origin: own })
    t.equal(preflight.status, 405, `${id}: no preflight is granted`)
  }
  t.equal(content(box), before, 'nothing was changed, and no client was made')
  t.equal((await box.get('/__admin/clients', good)).status, 200)
})

/** Sends a raw request line and returns the response. */
async function raw(port: number, line: string): Promise<{ status: number; text: string }> {
  const request = `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`
  const response = await exchange(port, Buffer.from(request, 'latin1'), 'latin1')
  const [head, body = ''] = response.split('\r\n\r\n')
  // A response may repeat the input, but only as JSON, which no browser runs.
  const isJson = /\r\nContent-Type: application\/json; charset=utf-8\r\n/i.test(`${head}\r\n`)
  return { status: Number(head!.split(' ')[1]), text: isJson ? body : '' }
}

// What is no name, as it could stand in a path. Each goes to every place where a name is taken.
const NO_NAMES = [
  ...String.raw`
    . .. ... ./a ../a ../../etc/passwd a/../b a/.. /a //a a//b a/b /etc/passwd ~ ~root
    %2e %2e%2e %2E%2E%2F ..%2f ..%2fa ..%2f..%2fetc%2fpasswd %2fetc%2fpasswd %2Fetc a%2fb
    a%2F..%2Fb ..%5c ..%5C..%5Cwindows ..\ ..\..\windows C: C:%5Cwindows %252e%252e%252f %252fetc
    %c0%ae%c0%ae%c0%af %c0%af %ef%bc%8e%ef%bc%8e%ef%bc%8f %e2%80%ae %00 a%00 a%00.json %00a
    a%0a a%0d%0aX-Injected:%201 a%09 a%20b %20a a% % %zz %1 %ff %u002e A Worker a_b -a a.json
    db.json a;b a&b a=b a* * a$(id) a|b a'b %22a%22 %3Cscript%3E <script> {a} [a] a@b @a :a
    %C3%A9 %F0%9F%98%80 %EF%BC%A1 __proto__ __admin`
    .trim()
    .split(/\s+/),
  ...['a`id`', '\u00e9', ...[64, 1_000, 5_000, 20_000].map((length) => 'a'.repeat(length))],
]
const PLACES: [method: string, before: string, after: string][] = [
  ['GET', '/__admin/snapshots/', ''],
  ['DELETE', '/__admin/snapshots/', ''],
  ['GET', '/__admin/snapshots/', '/diff'],
  ['POST', '/__admin/snapshots/', '/restore'],
  ['DELETE', '/__admin/clients/', ''],
  ['GET', '/@', '/__admin/state'],
  ['GET', '/@', '/v1/users'],
]

/** A sandbox with a data file that listens, and the files around it. */
async function listening(t: Test) {
  const dir = t.testdir({ data: {}, 'secret.json': '{"secret":"do not show"}' })
  const box = await start(t, { sandbox: { file: `${dir}/data/db.json` } })
  const { port } = await box.listen()
  const files = () => [readdirSync(dir), readdirSync(`${dir}/data`)]
  return { box, port, files }
}

t.test('no path reaches a file or a client or snapshot with an invalid name', async (t) => {
  const { box, port, files } = await listening(t)
  await box.post('/__admin/snapshots', { name: 'kept' })
  const before = [content(box), files()]
  t.ok(NO_NAMES.length >= 60)
  for (const name of NO_NAMES) {
    for (const [method, head, tail] of PLACES) {
      const line = `${method} ${head}${name}${tail}`
      const { status, text } = await raw(port, line)
      if (![400, 401, 404, 405, 414, 431].includes(status))
        t.fail(`${line.slice(0, 99)}: ${status}`)
      const answer = ErrorResponse.safeParse(JSON.parse(text || 'null'))
      if (!answer.success) t.fail(`${line.slice(0, 99)}: ${text.slice(0, 200)}`)
      if (/do not show|root:|secret\.json/.test(text)) t.fail(`${line} shows: ${text}`)
      if (text.length > 2_000) t.fail(`${line.slice(0, 99)}: a long answer`)
    }
  }
  t.same([content(box), files()], before, 'nothing was made, changed or deleted')
  t.equal((await box.get('/__admin/health')).body.status, 'healthy')
})

t.test('no body creates a client or a snapshot with an invalid name', async (t) => {
  const { box, files } = await listening(t)
  const before = [content(box), files()]
  const texts = ['', ' ', 'a\0', 'a\n', 'é', '\ud800', 'toString()']
  const more = [...texts, 5, null, {}, ['a']]
  for (const name of [...NO_NAMES, ...more]) {
    for (const path of ['/__admin/clients', '/__admin/snapshots']) {
      const answer = await box.post(path, { name })
      if (answer.status !== 400) t.fail(`${path} ${JSON.stringify(name)}: ${answer.status}`)
      if (answer.text.length > 2_000) t.fail(`${path}: a long answer`)
    }
    const from = { client: 'default', snapshot: name }
    // No snapshot is asked for by null.
    if (name !== null)
      t.equal((await box.post('/__admin/clients', { name: 'ok', from })).status, 400)
  }
  t.same([content(box), files()], before)
  for (const name of ['constructor', 'a', '0', 'x'.repeat(63)]) {
    const own = `/@${name}/__admin/snapshots`
    t.equal((await box.post('/__admin/clients', { name })).status, 201)
    t.equal((await box.post(own, { name })).status, 201)
    t.equal((await box.post(`${own}/${name}/restore`)).status, 200)
    t.equal((await box.call('DELETE', `${own}/${name}`)).status, 200)
    t.equal((await box.call('DELETE', `/__admin/clients/${name}`)).status, 200)
  }
  t.same(files(), before[1], 'names reach no file')
})

t.test('the admin page is found without its last slash, also of a base path', async (t) => {
  const { app } = await start(t)
  for (const base of ['', '/@w']) {
    const url = `${base}/__admin`
    const headers = { host: '127.0.0.1:4310' }
    const answer = await app.inject({ method: 'GET', url, headers })
    t.equal(answer.statusCode, 308)
    const to = new URL(String(answer.headers['location']), `http://127.0.0.1:4310${url}`)
    t.equal(to.pathname, `${url}/`)
    t.equal((await app.inject({ method: 'GET', url: to.pathname, headers })).statusCode, 200)
  }
})

t.test('a browser at the root gets to the console, others learn the addresses', async (t) => {
  const { app, call } = await start(t)
  const host = '127.0.0.1:4310'
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  for (const [url, to] of [
    ['/', '/__admin/'],
    ['/?x=1', '/__admin/'],
    ['/@w', '/@w/__admin/'],
  ] as const) {
    const { statusCode, headers } = await app.inject({ url, headers: { host, accept } })
    t.strictSame([statusCode, headers['location']], [302, to], url)
    t.equal((await app.inject({ url: to, headers: { host } })).statusCode, 200)
  }
  const at = (base: string) => ({
    service: `http://${host}${base}/v1`,
    docs: `http://${host}${base}/docs`,
    console: `http://${host}${base}/__admin/`,
    ready: `http://${host}${base}/__admin/ready`,
  })
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }])
    for (const base of ['', '/@w']) {
      const answer = await call('GET', base || '/', undefined, headers)
      t.strictSame([answer.status, answer.body], [200, at(base)])
      t.equal((await call('GET', new URL(answer.body.ready).pathname)).status, 200)
    }
  t.equal((await app.inject({ method: 'HEAD', url: '/', headers: { host } })).statusCode, 200)
  t.equal((await call('POST', '/', undefined, { accept })).headers['allow'], 'GET, HEAD')
  const { console: _, ...others } = at('')
  const without = await start(t, { app: { admin: false } })
  t.strictSame((await without.get('/', { accept })).body, others, 'without the admin API')
})
