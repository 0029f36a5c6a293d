import t from 'tap'
import { adminDocument } from '../../src/http/openapi-routes.ts'
import { serviceDocument } from '../../src/http/openapi-service.ts'
import { startSandbox } from '../../src/index.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { createCoverage } from '../../src/server.ts'
import { start } from '../helper.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is walked as the JSON it is.
type Json = any
type Box = Awaited<ReturnType<typeof start>>
type Shown = { id: string; method: string; path: string; operation: Json; base: string }

const shownIn = (document: Json, base: string): Shown[] =>
  Object.entries<Json>(JSON.parse(JSON.stringify(document)).paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      operation,
      base,
    })),
  )
const SERVICE = shownIn(await serviceDocument(OPERATIONS), '/v1')
const ADMIN = shownIn(await adminDocument(ADMIN_CALLS), '/__admin')

/** The request that a page such as Swagger UI fills in from the document alone. */
function filledIn({ method, path, operation, base }: Shown) {
  const query = new URLSearchParams()
  let place = path
  for (const { name, in: where, required, example, schema } of operation.parameters) {
    const value = example ?? schema.default
    if (required && value === undefined) throw new Error(`${name} has no example`)
    if (where === 'path') place = place.replace(`{${name}}`, encodeURIComponent(value))
    else if (where === 'query' && value !== undefined) query.set(name, String(value))
  }
  const content = Object.values<Json>(operation.requestBody?.content ?? {})[0]
  if (operation.requestBody && content?.example === undefined) throw new Error('no example body')
  const headers: Record<string, string> = operation.security.length
    ? { authorization: 'Bearer sbx_test_token' }
    : {}
  const url = `${base}${place}${query.size > 0 ? `?${query}` : ''}`
  return { method: method as 'GET', url, body: content?.example, headers }
}

/** Replaces an id that no example can know, of a row that was created after the start, by the real one. */
const MADE: Readonly<Record<string, (box: Box) => Promise<string>>> = {
  tmr_: async ({ get }) => (await get('/__admin/timers')).body.timers[0].timer_id,
  dlv_: async ({ get }) =>
    (await get('/__admin/webhooks/deliveries')).body.deliveries[0].delivery_id,
}

/** Sends the example of an operation. */
async function send(box: Box, id: string) {
  const {
    method,
    url: shown,
    body,
    headers,
  } = filledIn([...SERVICE, ...ADMIN].find((one) => one.id === id)!)
  const [made, start] = /\b(tmr_|dlv_)\w+/.exec(shown) ?? []
  const url = made ? shown.replace(made, await MADE[start!]!(box)) : shown
  return box.call(method, url, body, headers)
}

/** What an operation needs besides a fresh start: other examples, sent before its own. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  getWebhook: ['createWebhook'],
  updateWebhook: ['createWebhook'],
  deleteTimer: ['createTransaction'],
  fireTimer: ['createTransaction'],
  advanceClockToNext: ['createTransaction'],
  deleteRule: ['pushRule'],
  getSnapshot: ['saveSnapshot'],
  deleteSnapshot: ['saveSnapshot'],
  restoreSnapshot: ['saveSnapshot'],
  diffSnapshot: ['saveSnapshot'],
  getDelivery: ['createWebhook', 'createTransaction'],
  redeliver: ['createWebhook', 'createTransaction'],
  triggerWebhook: ['createWebhook'],
  getRequest: ['listUsers'],
}
/** Calls that need a server with a socket; they have their own tests below. */
const SERVED = new Set(['streamEvents'])

for (const [what, all] of [
  ['the service', SERVICE],
  ['the admin API', ADMIN],
] as const)
  t.test(`each example of ${what} succeeds on a fresh sandbox`, async (t) => {
    const coverage = await createCoverage()
    for (const { id, operation } of all) {
      if (SERVED.has(id)) continue
      const box = await start(t, { sandbox: { coverage } })
      for (const first of BEFORE[id] ?? []) {
        const { status, text } = await send(box, first)
        t.ok(status < 300, `${first} before ${id}: ${text}`)
      }
      const { status, text } = await send(box, id)
      t.equal(status, Number(Object.keys(operation.responses)[0]), `${id}: ${text.slice(0, 300)}`)
      await box.close()
    }
  })

t.test('the example of the stream of events opens it', async (t) => {
  const { url, close } = await startSandbox({ clock: 'frozen', logLevel: 'silent' })
  t.teardown(close)
  const shown = filledIn(ADMIN.find(({ id }) => id === 'streamEvents')!)
  const answer = await fetch(new URL(shown.url, url), { headers: shown.headers })
  t.equal(answer.status, 200)
  t.match(answer.headers.get('content-type'), 'text/event-stream')
  await answer.body!.cancel()
})

t.test('every call with a body or a path parameter has an example, other calls have none', (t) => {
  for (const { id, operation } of [...SERVICE, ...ADMIN]) {
    const { requestBody, parameters } = operation
    for (const { example } of Object.values<Json>(requestBody?.content ?? {}))
      t.not(example, undefined, `${id} body`)
    for (const { name, in: where, example } of parameters)
      t.equal(example !== undefined, where === 'path', `${id} ${name}`)
  }
  t.end()
})
