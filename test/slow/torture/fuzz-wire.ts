/** Requests as bytes on a socket, spoilt below HTTP, and the answers read back from the bytes that came. */
import { connect } from 'node:net'
import type { FuzzRequest, Requests } from './fuzz-requests.ts'

/** What a header can hold: the rest would be refused before it is sent. */
const sendable = (value: string) => value.replaceAll(/[^\x20-\x7e\x80-\xff]/g, '?')

/** A request in the bytes of HTTP/1.1, rightly framed, after which the server is to close. */
export function bytesOf({ method, url, headers, payload }: FuzzRequest): Buffer {
  const body = payload === undefined ? Buffer.alloc(0) : Buffer.from(payload as string)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${sendable(value)}`)
  const length = payload === undefined ? [] : [`content-length: ${body.length}`]
  const head = [`${method} ${url} HTTP/1.1`, ...lines, ...length, 'connection: close', '', '']
  return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), body])
}

const GREETINGS: readonly (string | Buffer)[] = [
  'hello\r\n\r\n',
  '\r\n\r\n\r\n',
  'GET /v1/users\r\n\r\n',
  'GET /v1/users HTTP/9.9\r\nhost: a\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000\u0004\u0000\u0000\u0000\u0000\u0000',
  Buffer.from('16030100c2010000be0303', 'hex'),
  'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n',
  'GET http://127.0.0.1/v1/users HTTP/1.1\r\nhost: a\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET /v1/users HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  'GET /v1/users HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n\r\n',
  'GET /v1/users HTTP/1.1\r\nhost: a\r\n folded: x\r\n\r\n',
  `GET /v1/users HTTP/1.1\r\nhost: a\r\n${'x: y\r\n'.repeat(3_000)}\r\n`,
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
  'POST /v1/user HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
  'POST /v1/user HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'POST /v1/user HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}',
  'POST /v1/user HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: -1\r\n\r\n{}',
  'POST /v1/user HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{}',
  'POST /v1/user HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\nhost: b\r\n\r\n',
]

const PARTS = [
  '\r\n',
  '\u0000',
  ': ',
  'HTTP/1.1',
  'content-length: 5\r\n',
  'transfer-encoding: chunked\r\n',
  'x: '.repeat(6_000),
]

/** Bytes spoilt without regard to what they mean. */
export function spoilBytes(bytes: Buffer, { below, pick, maybe }: Requests['chance']): Buffer {
  if (maybe(0.1)) return Buffer.from(pick(GREETINGS) as string, 'latin1')
  let made = Buffer.from(bytes)
  for (let i = 0; i <= below(3); i++) {
    const at = below(made.length)
    const [head, rest] = [made.subarray(0, at), made.subarray(at)]
    const flipped = Buffer.from([rest[0]! ^ (1 << below(8))])
    const lineEnd = pick(['\n', '\r', '\r\n\r\n'])
    made = pick([
      Buffer.concat([head, flipped, rest.subarray(1)]),
      head,
      Buffer.concat([head, Buffer.from([below(256)]), rest]),
      Buffer.concat([head, rest.subarray(1 + below(10))]),
      // One after the other on one connection, the first perhaps cut.
      Buffer.concat([maybe(0.5) ? head : made, bytes]),
      Buffer.from(made.toString('latin1').replace('\r\n', lineEnd), 'latin1'),
      Buffer.concat([head, Buffer.from(pick(PARTS)), rest]),
    ])
    if (made.length === 0) return Buffer.from('\r\n')
  }
  return made
}

/** `whole`: until the server closes; `half`: this side is closed at once; `cut`: the connection is dropped. */
export type Manner = 'whole' | 'half' | 'cut'

// The server gives a request 10 s to arrive.
const MAX_MS = 20_000

/** Sends bytes on a connection of their own; what came back until it was closed. */
export function exchange(port: number, bytes: Buffer, manner: Manner): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => {
      if (manner === 'whole') socket.write(bytes)
      else if (manner === 'half') socket.end(bytes)
      else socket.write(bytes, () => socket.destroy())
    })
    socket.setTimeout(MAX_MS, () => {
      socket.destroy()
      reject(new Error(`no end of an answer within ${MAX_MS} ms`))
    })
    socket.on('data', (part) => void parts.push(part))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server may have closed before all was sent; not being listened to is another matter.
      if (error.code === 'ECONNREFUSED') reject(error)
    })
    socket.on('close', () => resolve(Buffer.concat(parts)))
  })
}

export type WireAnswer = { status: number; headers: { [name: string]: string }; body: string }

function readHead(text: string): Omit<WireAnswer, 'body'> {
  const [line = '', ...lines] = text.split('\r\n')
  const [, status] = /^HTTP\/1\.1 (\d{3}) \S/.exec(line) ?? []
  if (!status) throw new Error(`no status line: ${line.slice(0, 100)}`)
  const headers = Object.fromEntries(
    lines.map((one) => {
      const colon = one.indexOf(':')
      if (colon < 1) throw new Error(`no header: ${one.slice(0, 100)}`)
      return [one.slice(0, colon).toLowerCase(), one.slice(colon + 1).trim()]
    }),
  )
  return { status: Number(status), headers }
}

function unchunked(rest: Buffer): { body: Buffer; length: number } | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = rest.indexOf('\r\n', at)
    if (end === -1) return undefined
    const size = Number.parseInt(rest.toString('latin1', at, end), 16)
    if (Number.isNaN(size)) throw new Error('no chunk')
    if (rest.length < end + 4 + size) return undefined
    parts.push(rest.subarray(end + 2, end + 2 + size))
    at = end + 4 + size
    if (size === 0) return { body: Buffer.concat(parts), length: at }
  }
}

/** The whole answers in what a server sent; `heads` where none has a body. Throws what is no HTTP. */
export function answersIn(bytes: Buffer, heads = false): WireAnswer[] {
  const answers: WireAnswer[] = []
  let rest = bytes
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) break
    const head = readHead(rest.toString('latin1', 0, end))
    rest = rest.subarray(end + 4)
    let body = Buffer.alloc(0)
    const { 'content-length': length, 'transfer-encoding': coding } = head.headers
    if (head.status >= 200 && head.status !== 204 && head.status !== 304 && !heads) {
      if (coding === 'chunked') {
        const found = unchunked(rest)
        if (!found) break
        body = Buffer.from(found.body)
        rest = rest.subarray(found.length)
      } else if (length !== undefined) {
        if (rest.length < Number(length)) break
        body = Buffer.from(rest.subarray(0, Number(length)))
        rest = rest.subarray(Number(length))
      } else {
        // Until the connection ends, as a stream of events.
        body = Buffer.from(rest)
        rest = Buffer.alloc(0)
      }
    }
    if (head.status >= 200) answers.push({ ...head, body: body.toString('utf8') })
  }
  return answers
}
