import t, { type Test } from 'tap'
import { ERRORS } from '../../../src/model/errors.ts'
import { serve } from '../../cli/program.ts'
import { checkAnswer, start } from '../../helper.ts'
import { createRequests, type FuzzRequest } from './fuzz-requests.ts'
import {
  answersIn,
  bytesOf,
  exchange,
  type Manner,
  spoilBytes,
  type WireAnswer,
} from './fuzz-wire.ts'
import { figures, LONG, SEED, seeded } from './part.ts'

const IN_PROCESS = LONG ? 900_000 : 1_200
const ON_SOCKETS = LONG ? 100_000 : 500
// A new sandbox after this number of requests, so that a failure can be reproduced without all earlier requests.
const BATCH = 20_000
const CONNECTIONS = 16
// Real time of one answer; far above what a busy machine needs.
const MAX_MS = 10_000

const INJECTED = new Set([
  'injected_error',
  'rate_limited',
  'bad_gateway',
  'service_unavailable',
  'gateway_timeout',
])
// What any path may be answered with, whatever its document says.
const ANYWHERE = new Set([
  'malformed_request',
  'method_not_allowed',
  'expectation_failed',
  'headers_too_large',
  'host_not_allowed',
  'client_limit_reached',
  'not_found',
])

type Seen = { status: number; headers: { [name: string]: unknown }; text: string }

/** What is wrong with an answer, or nothing. */
function fault(
  { id, documented, method, url }: Pick<FuzzRequest, 'id' | 'documented' | 'method' | 'url'>,
  { status, headers, text }: Seen,
): string | undefined {
  if (/\bat .{1,100}\.[cm]?[jt]s:\d|node_modules|node:internal/.test(text)) return 'shows a stack'
  const rule = headers['x-sandbox-rule']
  if (method === 'HEAD')
    return status >= 500 && rule === undefined ? `HEAD is answered ${status}` : undefined
  const isJson = String(headers['content-type']).startsWith('application/json')
  if (status >= 400 && !isJson) return `an error that is no JSON: ${headers['content-type']}`
  const body = isJson ? JSON.parse(text) : undefined
  const word = status >= 400 ? (body.error as keyof typeof ERRORS) : undefined
  // A rule that a request pushed may answer anything at all.
  if (rule !== undefined && (INJECTED.has(body?.error) || /^(rule:|inline)/.test(String(rule))))
    return
  if (word !== undefined && !(word in ERRORS)) return `an unknown word ${word}`
  if (word !== undefined && ERRORS[word][0] !== status) return `${word} is not of status ${status}`
  // A delayed answer that a reset cancelled is not ready; nothing else may be.
  if (status >= 500 && word !== 'not_ready') return `${status} ${word}`
  if (id !== undefined && !documented.includes(status) && !ANYWHERE.has(String(word)))
    return `the document of ${id} does not have ${status} ${word}`
  if (!isJson) return undefined
  try {
    checkAnswer(method, url.replace(/#.*/, ''), status, text)
  } catch (error) {
    return (error as Error).message
  }
  return undefined
}

// Whoever sends such a path asks for another one: these parts are taken out before it leaves.
const DOTS = /\/(?:\.|%2e){1,2}(?=[/?#]|$)/i

/** A request that is some other one by now: what it is refused with is held against the form of errors alone. */
const asAnother = (request: FuzzRequest) => ({
  ...request,
  id: undefined,
  url: '/',
  // Whose answer has no body stays one.
  method: request.method === 'HEAD' ? ('HEAD' as const) : ('GET' as const),
})

const shown = (request: FuzzRequest, answer?: Seen) =>
  JSON.stringify({ ...request, payload: String(request.payload).slice(0, 3_000) }) +
  (answer ? `\nanswer ${answer.status} ${answer.text.slice(0, 2_000)}` : '')

function createLog() {
  const errors: string[] = []
  const log = {
    info() {},
    warn() {},
    error: (message: string, error?: unknown) =>
      void errors.push(`${message} ${error instanceof Error ? error.stack : error}`),
  }
  return { errors, log }
}

/** Sends a batch to a sandbox of its own; answers what was wrong first, if anything. */
async function batch(seed: number, count: number, statuses: Map<number, number>) {
  const { errors, log } = createLog()
  const box = await start(
    { teardown() {} },
    {
      sandbox: {
        log,
        maxClients: 8,
        // No answer waits for long, also if a spoilt delay is a valid one.
        runtime: (real) => ({ ...real, later: (ms, run) => real.later(Math.min(ms, 5), run) }),
        start: { randomSeed: seed, clock: 'frozen', clockSpeed: 1, scenario: 'default' },
      },
      app: { explain: true, log },
    },
  )
  const requests = createRequests(seeded(seed))
  const { maybe } = requests.chance

  async function send(request: FuzzRequest): Promise<Seen | undefined> {
    const { method, url, headers, payload } = request
    let answer: Seen | undefined
    const asked = box.app
      .inject({ method, url, headers, ...(payload !== undefined && { payload }) })
      .then(({ statusCode: status, headers, body: text }) => {
        answer = { status, headers, text }
      })
    const until = performance.now() + MAX_MS
    while (!answer && performance.now() < until)
      await Promise.race([asked, new Promise(setImmediate)])
    return answer
  }

  let done = 0
  try {
    while (done < count) {
      const request = requests.next()
      // A stream has no end; it is met on sockets.
      if (/events/i.test(request.url)) continue
      done++
      // Sometimes twice at once, as by an impatient client.
      const twice = maybe(0.02) ? [send(request)] : []
      for (const answer of await Promise.all([send(request), ...twice])) {
        const held = DOTS.test(request.url) ? asAnother(request) : request
        const wrong = answer ? fault(held, answer) : `no answer within ${MAX_MS} ms`
        const found = wrong ?? errors[0]
        if (found) return `number ${done} of seed ${seed}: ${found}\n${shown(request, answer)}`
        statuses.set(answer!.status, (statuses.get(answer!.status) ?? 0) + 1)
        requests.hear(request, answer!.text)
      }
    }
    if ('polluted' in {}) return `seed ${seed}: a prototype was polluted`
    const { statusCode } = await box.app.inject({ url: '/__admin/health', headers: { host: 'a' } })
    return statusCode === 200 ? undefined : `seed ${seed}: health is ${statusCode}`
  } finally {
    await box.close()
  }
}

/** Counts statuses in one line, so that one sees that most kinds of answers were met. */
const countsOf = (statuses: ReadonlyMap<number, number>) =>
  [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')

function metAll(t: Test, statuses: ReadonlyMap<number, number>, wanted: readonly number[]) {
  t.comment(countsOf(statuses))
  const missing = wanted.filter((status) => !statuses.has(status))
  t.same(missing, [], 'valid requests and each kind of refusal were among them')
}

t.test(`${IN_PROCESS} requests, valid and spoilt, are answered as the documents say`, async (t) => {
  const statuses = new Map<number, number>()
  const wrong: string[] = []
  for (let done = 0, i = 0; done < IN_PROCESS && wrong.length === 0; done += BATCH, i++) {
    const found = await batch(SEED + i, Math.min(BATCH, IN_PROCESS - done), statuses)
    if (found) wrong.push(found)
  }
  t.same(wrong, [])
  metAll(t, statuses, [200, 201, 400, 401, 403, 404, 405, 409, 415, 422])
  figures({ 'requests in process': IN_PROCESS })
})

t.test(
  `${ON_SOCKETS} requests on sockets, most spoilt below HTTP, leave the server well`,
  async (t) => {
    const args = [
      '--memory',
      '--clock',
      'frozen',
      '--explain',
      '--max-clients',
      '8',
      '--log-level',
      'error',
    ]
    const program = await serve(t, args)
    let ended: unknown
    program.child.on('exit', (code, signal) => {
      ended = `ended with ${code ?? signal}: ${program.stderr()}`
    })
    const requests = createRequests(seeded(SEED))
    const { chance } = requests
    const statuses = new Map<number, number>()
    const wrong: string[] = []
    let sent = 0

    function judge(request: FuzzRequest, manner: Manner, spoilt: boolean, bytes: Buffer) {
      // It is unknown whether it is still a HEAD request, whose response has no body.
      if (spoilt && request.method === 'HEAD') return
      const answers: WireAnswer[] = answersIn(bytes, request.method === 'HEAD')
      if (manner === 'whole' && answers.length !== 1) throw new Error(`${answers.length} answers`)
      for (const { status, headers, body } of answers) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        const seen = { status, headers, text: body }
        const found = fault(spoilt ? asAnother(request) : request, seen)
        if (found) throw new Error(`${found}\nanswer ${status} ${body.slice(0, 2_000)}`)
        if (!spoilt) requests.hear(request, body)
      }
    }

    async function connection() {
      while (sent < ON_SOCKETS && wrong.length === 0) {
        sent++
        const request = requests.next()
        const isStream = request.id === 'streamEvents' || /events/i.test(request.url)
        const spoilt = chance.maybe(0.6)
        const manner: Manner = spoilt
          ? chance.maybe(0.8)
            ? 'half'
            : 'cut'
          : isStream
            ? 'half'
            : 'whole'
        const whole = bytesOf(request)
        const bytes = spoilt ? spoilBytes(whole, chance) : whole
        try {
          judge(request, manner, spoilt, await exchange(program.port, bytes, manner))
          if (ended || program.stderr()) throw new Error(String(ended ?? program.stderr()))
        } catch (error) {
          wrong.push(
            `${manner}: ${(error as Error).message}\n${JSON.stringify(bytes.toString('latin1').slice(0, 4_000))}`,
          )
        }
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, connection))
    t.same(wrong, [])
    metAll(t, statuses, [200, 201, 400, 401, 404, 405, 409])
    const health = await fetch(`${program.adminUrl}/health`)
    t.match(await health.json(), { status: 'healthy' })
    const { code, stderr } = await program.stop()
    t.strictSame([code, stderr], [0, ''])
    figures({ 'requests on sockets': ON_SOCKETS })
  },
)
