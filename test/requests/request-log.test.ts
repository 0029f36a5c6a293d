import t from 'tap'
import {
  createLogBudget,
  RequestLog,
  type RequestLogEntry,
  requestDetails,
} from '../../src/requests/request-log.ts'

const call = (more: object = {}) => ({
  at: 0,
  wallAt: 0,
  began: 10,
  method: 'POST',
  url: '/v1/user',
  operation: 'createUser',
  params: {},
  headers: {},
  headersSize: 0,
  body: '',
  status: 201,
  response: '',
  isDecided: true,
  rule: undefined,
  stepsRule: undefined,
  fault: undefined,
  replayed: false,
  ...more,
})

function open(budget = createLogBudget()) {
  const logged: RequestLogEntry[] = []
  const clock = { now: 12 }
  const log = new RequestLog({
    budget,
    addToAll() {},
    onLogged: (noted) => logged.push(noted),
    runtime: { elapsed: () => clock.now, wall: () => 0 },
  })
  return { log, logged, clock, budget, newest: () => [...log.newestFirst()][0]! }
}

t.test('the texts of a log are bounded, whatever the client sends', async (t) => {
  const { log, budget } = open()
  const body = 'x'.repeat(64 * 1024)
  for (let i = 0; i < 500; i++) log.add(call({ body }))
  t.ok(log.count > 50 && log.count < 65, `${log.count} of 64 Ki characters each`)
  t.ok(budget.used <= 4 * 1024 * 1024)
  t.equal(log.count + log.dropped, 500)
  for (let i = 0; i < 500; i++) log.add(call({ headersSize: 16 * 1024 }))
  t.ok(log.count < 250, 'headers count')
  for (let i = 0; i < 500; i++) log.add(call({ url: `/${'u'.repeat(16 * 1024)}` }))
  t.ok(log.count < 250, 'addresses count')
})

t.test('the logs of all clients are bounded together', async (t) => {
  const budget = createLogBudget()
  const body = 'x'.repeat(64 * 1024)
  const logs = Array.from({ length: 40 }, () => open(budget).log)
  for (let i = 0; i < 60; i++) for (const log of logs) log.add(call({ body }))
  t.ok(budget.used <= budget.max, `${budget.used}`)
  t.ok(budget.used > budget.max / 2)
  t.ok(
    logs.every(({ count }) => count >= 1),
    'each keeps its newest',
  )
  for (const log of logs) log.clear()
  t.equal(budget.used, 0)
})

t.test('a text that is too long is not stored, but its size is', async (t) => {
  const { log, newest } = open()
  const long = JSON.stringify({ a: 'x'.repeat(64 * 1024) })
  log.add(call({ body: long, response: long }))
  t.match(requestDetails(newest()), {
    body: null,
    body_size: long.length,
    response: null,
    response_size: long.length,
  })
  const fitting = JSON.stringify({ a: 'x'.repeat(4_000) })
  log.add(call({ body: fitting, response: fitting }))
  t.strictSame(requestDetails(newest()).body, JSON.parse(fitting))
  t.strictSame(requestDetails(newest()).response, JSON.parse(fitting))
})

t.test(
  'durations are of real time; a call from before the log was emptied is not noted',
  async (t) => {
    const { log, logged, clock, newest } = open()
    log.add(call())
    t.equal(requestDetails(newest()).duration_ms, 2)
    clock.now = 20
    t.equal(log.clear(), 1)
    log.add(call({ began: 19 }))
    t.equal(log.count, 0)
    t.equal(logged.length, 1)
    log.add(call({ began: 20 }))
    t.equal(log.count, 1)
    t.equal(logged.at(-1), newest())
  },
)

t.test('each entry has its own texts, however many came before it', async (t) => {
  const { log } = open()
  const responseOf = (n: number) => JSON.stringify({ n, text: '₹é😀'.repeat(n % 1_000) })
  for (let n = 1; n <= 3_000; n++) log.add(call({ body: `${n}`, response: responseOf(n) }))
  const entries = [...log.newestFirst()]
  t.ok(entries.length > 500, `${entries.length} entries`)
  for (const entry of entries)
    if (entry.body !== `${entry.seq}` || String(entry.response) !== responseOf(entry.seq))
      t.fail(`entry ${entry.seq}`)
})
