import type { IncomingMessage, ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { conform } from '../../../src/tools/conform/conform.ts'
import { held, lines, listen, places, sandbox } from './proxy.ts'

const JSON_HEAD = { 'content-type': 'application/json' }
const LIST = { status: true, code: 200, message: 'x' }

/** Checks a server with one fixed response by the contract; returns the number of calls it got. */
async function against(
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse, nth: number) => void,
  { token = 'tok-abcdefghij' as string | undefined, responseTimeoutMs = 5_000, write = true } = {},
) {
  let calls = 0
  const base = await listen(t, (request, response) => {
    request.resume()
    answer(request, response, ++calls)
  })
  const report = await conform({ base, token, responseTimeoutMs, write })
  t.equal(report.calls, calls, 'it counts its calls')
  return report
}

const MAX_CALLS = 110

t.test('a first call that nobody answers ends it', async (t) => {
  await t.rejects(conform({ base: 'http://127.0.0.1:1/v1', token: undefined, write: false }), {
    exitCode: 1,
    message: /^No service responds at http:\/\/127\.0\.0\.1:1\/v1: no response \(ECONNREFUSED\)/,
  })
  const cases: [string, RegExp, (response: ServerResponse) => void][] = [
    [
      'no end',
      /no complete response within 0.2 s/,
      (response) => response.writeHead(200).write('['),
    ],
    ['nothing', /no complete response within 0.2 s/, () => {}],
    ['cut off', /no response \(/, (response) => response.socket?.destroy()],
    [
      'upgraded',
      /no response \(/,
      (response) => response.writeHead(101, { upgrade: 'x', connection: 'upgrade' }).end(),
    ],
    [
      'endless',
      /more than 1 MiB/,
      (response) => {
        response.writeHead(200, JSON_HEAD)
        const pour = () => {
          while (response.write('x'.repeat(65_536)));
          response.once('drain', pour)
        }
        pour()
      },
    ],
    [
      'packed',
      /a compressed response/,
      (response) => response.writeHead(200, { ...JSON_HEAD, 'content-encoding': 'gzip' }).end('{}'),
    ],
    [
      'not UTF-8',
      /not valid UTF-8/,
      (response) => response.writeHead(200, JSON_HEAD).end(Buffer.from([0x22, 0xff, 0x22])),
    ],
  ]
  for (const [what, message, answer] of cases) {
    const base = await listen(t, (_, response) => answer(response))
    // A busy machine may need a moment for the megabyte that is too much.
    const responseTimeoutMs = what === 'endless' ? 10_000 : 200
    await t.rejects(
      conform({ base, token: undefined, responseTimeoutMs, write: true }),
      { message },
      what,
    )
  }
})

t.test('three calls without an answer end the asking, and the report is still made', async (t) => {
  const report = await against(
    t,
    (_, response, nth) => {
      if (nth === 1) response.writeHead(200, JSON_HEAD).end('{}')
    },
    { responseTimeoutMs: 50 },
  )
  t.equal(report.calls, 4)
  t.equal(report.ok, false)
  t.match(
    lines(report.differs)[0],
    'response: a complete response; no complete response within 0.05 s',
  )
  t.match(report.unchecked.at(-1), {
    endpoint: 'PUT /clientWebhook',
    reason: /^stopped after three calls without a response: /,
  })
})

t.test(
  'whatever is answered, calls are few, the report is small and shows no secret',
  async (t) => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const keys = JSON.stringify(
      Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, i])),
    )
    const users = (row: string, count: number) =>
      `{"status":true,"code":200,"message":"x","data":{"total_users":${count},"page":1,"limit":50,"users":[${Array(count).fill(row).join()}]}}`
    const bodies: Record<string, string> = {
      'a null': 'null',
      'a text': '"x"',
      'a number': '1e999',
      nothing: '',
      'a page': '<html>',
      depth: deep,
      'depth in a field': JSON.stringify({ ...LIST, data: 1 }).replace('1}', `${deep}}`),
      'many keys': keys,
      'many rows': users('{}', 15_000),
      'rows of rows': users('[[]]', 10_000),
      'keys of objects':
        '{"__proto__":{"status":true},"constructor":1,"toString":null,"data":{"users":[{"created_at":{"toString":1},"user_id":{"valueOf":2}},{"created_at":{"toString":1}}]}}',
      'no shape':
        '{"status":{"x":1},"code":[],"message":{},"data":{"users":{"length":9},"response":{"data":{"kycData":[null,1,{"metadata":[]}],"user":[null]}}}}',
      'long texts': JSON.stringify({ ...LIST, data: 'y'.repeat(900_000) }),
      'what was sent':
        '{"tok-abcdefghij":"tok-abcdefghij","message":5012345678901234,"status":"ABCPE1234F","code":"tok-abcdefghij"}',
      'what terminals act on': '{"\\u001b[2J":1,"status":"\\u001b]0;x\\u0007"}',
    }
    for (const [what, body] of Object.entries(bodies)) {
      const began = performance.now()
      const report = await against(t, (_, response) => {
        response.writeHead(200, JSON_HEAD).end(body)
      })
      t.ok(report.calls <= MAX_CALLS, `${what}: ${report.calls} calls`)
      t.equal(report.ok, false, what)
      const text = JSON.stringify(report)
      t.ok(text.length < 400_000, `${what}: a report of ${text.length}`)
      t.notMatch(text, /tok-abcdefghij|ABCPE1234F|5012345678901234/, what)
      t.ok(performance.now() - began < 20_000, what)
    }
  },
)

t.test('each status is reported for its call, and no redirect is followed', async (t) => {
  let followed = 0
  const elsewhere = await listen(t, (_, response) => {
    followed++
    response.end()
  })
  const redirecting = await against(t, (_, response) =>
    response.writeHead(307, { ...JSON_HEAD, location: `${elsewhere}/users` }).end('{}'),
  )
  t.equal(followed, 0)
  t.ok(lines(redirecting.differs).includes('GET /users HTTP status: 200; 307'))
  const busy = await against(t, (_, response) => response.writeHead(429, JSON_HEAD).end('{}'))
  t.equal(busy.ok, true)
  t.match(busy.unchecked, [
    { endpoint: 'GET /users', reason: 'the service responds with 429 (too many requests)' },
  ])
  t.strictSame(busy.checked, [])
  const failing = await against(t, (_, response) => response.writeHead(503, JSON_HEAD).end('{}'))
  t.equal(failing.ok, false)
  t.ok(lines(failing.differs).includes('GET /transaction HTTP status: 200; 503'))
})

t.test('findings beyond what a report holds are counted', async (t) => {
  let nth = 0
  const report = await held(t, {
    'GET /users': ({ body }) => {
      for (const user of body.data?.users ?? []) for (let i = 0; i < 15; i++) user[`k${nth++}`] = i
    },
  })
  t.equal(report.differs.length, 500)
  t.ok(report.more > 0)
  t.ok(places(report.differs).every((place) => /^GET \/users data\.users\[\]\.k\d+$/.test(place)))
})

t.test(
  'the token goes with each call but those that are asked without, and nothing else',
  async (t) => {
    const { url, token } = await sandbox(t)
    const seen = new Map<string, number>()
    const base = await listen(t, async (request, response) => {
      const { authorization = 'none' } = request.headers
      seen.set(authorization, (seen.get(authorization) ?? 0) + 1)
      t.equal(request.headers['accept-encoding'], 'identity')
      const answer = await fetch(new URL(request.url!, url), {
        headers: authorization === 'none' ? {} : { authorization },
      })
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(await answer.text())
    })
    const { calls } = await conform({ base, token, write: false })
    t.strictSame([...seen.keys()].sort(), [
      'Bearer conform-unknown-token',
      'Bearer sbx_test_token',
      'none',
    ])
    t.equal(seen.get('none'), 4)
    t.equal(seen.get(`Bearer ${token}`), calls - 7)
  },
)
