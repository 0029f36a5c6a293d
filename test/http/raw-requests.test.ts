import { once } from 'node:events'
import { STATUS_CODES } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { start } from '../helper.ts'
import { exchange } from '../listening.ts'

/** The first line and the body of the response to bytes that no HTTP client would send. */
async function send(port: number, bytes: string | Buffer) {
  const [head = '', body = ''] = (await exchange(port, bytes)).split('\r\n\r\n')
  return { line: head.split('\r\n')[0]!, body }
}

const POST = (type: string, body: Buffer) =>
  Buffer.concat([
    Buffer.from(
      `POST /v1/user HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`,
    ),
    body,
  ])

t.test('a malformed request gets the error envelope and a reason phrase', async (t) => {
  const { listen } = await start(t)
  const { port } = await listen()
  const user = (email: string) =>
    Buffer.from(`{"email":"${email}","mobile":"9876500001"}`, 'latin1')
  const head = (call: string, more = '') =>
    `${call} HTTP/1.1\r\nHost: localhost\r\n${more}Connection: close\r\n\r\n`
  const table: [name: string, bytes: string | Buffer, status: number, word: string][] = [
    ['no HTTP', 'hello\r\n\r\n', 400, 'malformed_request'],
    ['no Host', head('GET /v1/users').replace('Host: localhost\r\n', ''), 400, 'malformed_request'],
    ['HTTP/1.0', 'GET /v1/users HTTP/1.0\r\n\r\n', 400, 'malformed_request'],
    ['two Hosts', head('GET /v1/users', 'Host: localhost\r\n'), 400, 'malformed_request'],
    ['Expect', head('GET /v1/users', 'Expect: foo\r\n'), 417, 'expectation_failed'],
    ['a rare method', head('PROPFIND /v1/users'), 405, 'method_not_allowed'],
    ['a rare method of no path', head('PROPFIND /v1/nothing'), 404, 'not_found'],
    ['no UTF-8', POST('application/json', user('a\xff@example.com')), 400, 'malformed_json'],
    [
      'UTF-16',
      POST('application/json; charset=utf-16', user('a@example.com')),
      415,
      'unsupported_media_type',
    ],
  ]
  for (const [name, bytes, status, word] of table) {
    const { line, body } = await send(port, bytes)
    t.equal(line, `HTTP/1.1 ${status} ${STATUS_CODES[status]}`, name)
    t.match(JSON.parse(body), { status: false, code: status, error: word, data: null }, name)
  }
  const twice = table.find(([name]) => name === 'two Hosts')!
  t.match(
    (await send(port, twice[1])).body,
    /The request has the header host 2 times\. Send it once\./,
  )
  const charsets = ['UTF-8', '"utf-8"', ' "UTF-8" ; a=b', 'utf8']
  for (const [i, charset] of charsets.entries()) {
    const body = Buffer.from(`{"email":"a${i}@example.com","mobile":"987650001${i}"}`)
    const fine = await send(port, POST(`application/json; charset=${charset}`, body))
    t.equal(fine.line, 'HTTP/1.1 201 Created', charset)
  }
  for (const charset of ['"utf-16"', '"utf-8', 'utf-8"', '""']) {
    const other = await send(
      port,
      POST(`application/json; charset=${charset}`, user('z@example.com')),
    )
    t.match(other.line, /^HTTP\/1.1 415 /, charset)
  }
})

t.test('what is no HTTP behind a stream ends it, and is not answered inside it', async (t) => {
  const { listen } = await start(t)
  const { port } = await listen()
  const socket = connect(port, '127.0.0.1', () =>
    socket.write('GET /__admin/events HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  )
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    if (text === '') socket.write('hello\r\n\r\n')
    text += chunk
  })
  await once(socket, 'close')
  t.match(text, /^HTTP\/1\.1 200 OK/)
  t.notMatch(text, 'HTTP/1.1 400')
})

t.test('malformed bytes after a request do not change its response', async (t) => {
  const { listen, get } = await start(t)
  const { port } = await listen()
  const user = Buffer.from('{"email":"behind@example.com","mobile":"9876500009"}')
  const call = POST('application/json', user).toString().replace('Connection: close\r\n', '')
  const { line, body } = await send(port, `${call}GARBAGE\r\n\r\n`)
  t.equal(line, 'HTTP/1.1 201 Created')
  t.match(body, 'behind@example.com')
  t.notMatch(body, 'malformed_request')
  t.match((await get('/v1/users?limit=1')).text, 'behind@example.com')
})
