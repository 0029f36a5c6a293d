import t from 'tap'
import {
  createLogBudget,
  createRequestLog,
  type RequestLogEntry,
  shownRequest,
} from '../../src/services/request-log.ts'

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
  answer: '',
  rule: undefined,
  fault: undefined,
  replayed: false,
  ...more,
})

function open(budget = createLogBudget()) {
  const told: RequestLogEntry[] = []
  const clock = { now: 12 }
  const log = createRequestLog({
    budget,
    onNoted: (noted) => told.push(noted),
    elapsed: () => clock.now,
  })
  return { log, told, clock, budget, newest: () => [...log.newestFirst()][0]! }
}

t.test('the texts of a log are bounded, whatever is sent', async (t) => {
  const { log, budget } = open()
  const body = 'x'.repeat(64 * 1024)
  for (let i = 0; i < 500; i++) log.note(call({ body }))
  t.ok(log.count > 50 && log.count < 65, `${log.count} of 64 Ki characters each`)
  t.ok(budget.used <= 4 * 1024 * 1024)
  t.equal(log.count + log.dropped, 500)
  for (let i = 0; i < 500; i++) log.note(call({ headersSize: 16 * 1024 }))
  t.ok(log.count < 250, 'headers count')
  for (let i = 0; i < 500; i++) log.note(call({ url: `/${'u'.repeat(16 * 1024)}` }))
  t.ok(log.count < 250, 'addresses count')
})

t.test('the logs of all clients are bounded together', async (t) => {
  const budget = createLogBudget()
  const body = 'x'.repeat(64 * 1024)
  const logs = Array.from({ length: 40 }, () => open(budget).log)
  for (let i = 0; i < 60; i++) for (const log of logs) log.note(call({ body }))
  t.ok(budget.used <= budget.max, `${budget.used}`)
  t.ok(budget.used > budget.max / 2)
  t.ok(
    logs.every(({ count }) => count >= 1),
    'each keeps its newest',
  )
  for (const log of logs) log.clear()
  t.equal(budget.used, 0)
})

t.test('a text that is too long is not kept, and its size is told', async (t) => {
  const { log, newest } = open()
  const long = JSON.stringify({ a: 'x'.repeat(64 * 1024) })
  log.note(call({ body: long, answer: long }))
  t.match(shownRequest(newest()), {
    body: null,
    body_size: long.length,
    answer: null,
    answer_size: long.length,
  })
  const fitting = JSON.stringify({ a: 'x'.repeat(4_000) })
  log.note(call({ body: fitting, answer: fitting }))
  t.strictSame(shownRequest(newest()).body, JSON.parse(fitting))
  t.strictSame(shownRequest(newest()).answer, JSON.parse(fitting))
})

t.test(
  'durations are of real time; a call from before the log was emptied is not noted',
  async (t) => {
    const { log, told, clock, newest } = open()
    log.note(call())
    t.equal(shownRequest(newest()).durationMs, 2)
    clock.now = 20
    t.equal(log.clear(), 1)
    log.note(call({ began: 19 }))
    t.equal(log.count, 0)
    t.equal(told.length, 1)
    log.note(call({ began: 20 }))
    t.equal(log.count, 1)
    t.equal(told.at(-1), newest())
  },
)

t.test('an answer that is no JSON is shown as a masked text', async (t) => {
  const { log, newest } = open()
  log.note(call({ answer: 'pay to 987654321098 please' }))
  t.equal(shownRequest(newest()).answer, 'pay to XXXXXXXX1098 please')
})

t.test('each call keeps its own texts, of any length and script', async (t) => {
  const { log } = open()
  const textOf = (i: number) => JSON.stringify({ note: `₹${i} ${'पैसा😀'.repeat(i * 3)}` })
  for (let i = 0; i < 300; i++)
    log.note(call({ body: textOf(i % 60), answer: textOf((i * 7) % 60) }))
  t.equal(log.count, 300)
  let i = 300
  for (const noted of log.newestFirst()) {
    i--
    const { body, answer } = shownRequest(noted)
    if (JSON.stringify(body) !== textOf(i % 60) || JSON.stringify(answer) !== textOf((i * 7) % 60))
      t.fail(`call ${i}`)
  }
  t.equal(i, 0)
})
