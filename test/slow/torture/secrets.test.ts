import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Program, run, serve } from '../../cli/program.ts'
import { ASHA, PAYMENT } from '../../helper.ts'
import { DESCRIBED, type Json } from '../calls.ts'
import { type Canary, createCanaries, type Kind } from './canaries.ts'
import { figures, LONG, SEED } from './part.ts'

const KINDS: readonly Kind[] = ['aadhaar', 'pan', 'account', 'secret', 'token']
// What a user writes for people to read; the service shows it again as it was written.
const FREE =
  /(?:^|\.)(?:remark|reference_id|nameOnCard|email|mobile|url|name|message|body|override.*)$|^rows\./

/** Something that was put out: where, and whether a text of the user's own may stand in it. */
type Output = { where: string; text: string; mayShow: (canary: Canary) => boolean }

const nothing = () => false
// Nothing masks the reference of a payment: it is what one searches for.
const isReference = ({ place }: Canary) => /: reference_id$/.test(place)
const isFree = ({ free }: Canary) => free === true
// A state is the whole world, to be put in again: all that was taken in, but for access tokens and webhook secrets.
const inState = ({ free, stored, place }: Canary) =>
  free === true || (stored === true && !/secret|token/i.test(place))

/** The paths of all values of a schema: `['kyc', 0, 'document_number']`. */
function leaves(schema: Json, schemas: Json, depth = 0): (string | number)[][] {
  const { $ref, anyOf = [], oneOf = [], properties = {}, items } = schema
  if ($ref) return leaves(schemas[$ref.split('/').at(-1)], schemas, depth)
  if (depth > 5) return []
  const within = (one: Json) => leaves(one, schemas, depth + 1)
  const inner = [
    ...[...anyOf, ...oneOf].flatMap(within),
    ...Object.entries<Json>(properties).flatMap(([name, property]) =>
      within(property).map((path) => [name, ...path]),
    ),
    ...(items ? within(items).map((path) => [0, ...path]) : []),
  ]
  return inner.length > 0 ? inner : [[]]
}

/** A copy of a body in which one value is another. */
function withValue(body: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  const copy: Json = typeof key === 'number' ? [...((body as []) ?? [])] : { ...(body as object) }
  copy[key] = withValue(copy[key], rest, value)
  return copy
}

/** The bodies that are not the examples of the documents: so that a wait ends at once, and no scenario delays the rest. */
const BODIES: Record<string, object> = {
  'POST /__admin/wait': { for: 'request', timeout_ms: 1 },
  'PUT /__admin/scenario': { name: 'default' },
}
// What would end the world that is tried, wait for the wall, or answer without end.
const LEFT_OUT = /^(POST \/__admin\/(?:reset|clock\/.*)|GET \/__admin\/events|DELETE .*)$/

type Send = Awaited<ReturnType<typeof sweep>>['send']

async function sweep(t: Test) {
  const canaries = createCanaries()
  const { plant } = canaries
  const outputs: Output[] = []
  const adminToken = plant('token', 'the option --admin-token').value
  const dir = t.testdir({})
  const data = join(dir, 'data/db.json')
  const args = ['--data', data, '--explain', '--clock', 'frozen']
  const program = await serve(t, [...args, '--admin-token', adminToken])
  const origin = program.url.slice(0, -'/v1'.length)
  // The line that programs read names the tokens to call it with.
  outputs.push({
    where: 'stdout of start',
    text: JSON.stringify({ ...program.ready, admin_token: '' }),
    mayShow: nothing,
  })
  let requests = 0

  async function send(
    method: string,
    path: string,
    options: {
      body?: unknown
      headers?: Record<string, string>
      mayShow?: (canary: Canary) => boolean
    } = {},
  ) {
    const { body, headers = {}, mayShow = nothing } = options
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await fetch(`${origin}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...(path.includes('/__admin') && { 'x-admin-token': adminToken }),
        ...headers,
      },
      ...(text !== undefined && { body: text }),
    })
    requests++
    const got = await answer.text()
    const actual = JSON.stringify([...answer.headers])
    const isFine = answer.status < 400
    // A refusal may show a number to the caller who sent it in this very request, but never a secret.
    const sent = `${path} ${text ?? ''}`
    const isOwn = ({ kind, value }: Canary) =>
      kind !== 'secret' && kind !== 'token' && sent.includes(value)
    outputs.push({
      where: `the answer ${answer.status} of ${method} ${path}`,
      text: `${actual}${got}`,
      mayShow: (canary) => (isFine ? mayShow(canary) : isOwn(canary)),
    })
    return { status: answer.status, isFine, text: got }
  }

  // ---- a life in which every number and secret stands where it belongs

  const client = plant('token', 'access_token of POST /clients', { stored: true })
  await send('POST', '/__admin/clients', {
    body: { name: 'own', access_token: client.value },
    mayShow: (canary) => canary === client,
  })
  const inFixtures = KINDS.map((kind) => plant(kind, `inline fixtures, ${kind}`, { stored: true }))
  const [aadhaar, pan, account, secret, token] = inFixtures.map(({ value }) => value)
  const at = '2025-01-06T03:30:00.000Z'
  const id = (n: number) => `90000000-0000-4000-8000-00000000000${n}`
  const made = await send('POST', '/__admin/clients', {
    body: {
      name: 'inline',
      access_token: token,
      fixtures: {
        users: [{ user_id: id(1), email: 'x@example.com', mobile: '9812345678', created_at: at }],
        kyc: [
          {
            document_type: 'pid',
            document_name: 'aadhar',
            document_number: aadhaar,
            kyc_id: id(2),
          },
          { document_type: 'tid', document_name: 'pan', document_number: pan, kyc_id: id(3) },
        ].map((one) => ({
          ...one,
          user_id: id(1),
          full_name: 'X',
          dob: '1990-02-01',
          kyc_status: 'success',
          verified_by: 'system',
          created_at: at,
        })),
        bank_accounts: [
          {
            bank_id: id(4),
            user_id: id(1),
            account_number: account,
            ifsc_code: 'HDFC0000001',
            bank_status: 'success',
            account_holder_name: 'X',
            created_at: at,
          },
        ],
        webhooks: [{ webhook_id: id(5), url: `${origin}/nowhere`, webhook_secret: secret }],
      },
    },
    mayShow: ({ value }) => value === token,
  })
  t.ok(made.isFine, made.text)

  const hook = plant('secret', 'webhook_secret', { stored: true })
  const inUrl = plant('token', 'the query of a webhook URL', { stored: true, free: true })
  await send('POST', '/v1/clientWebhook', {
    body: {
      url: `${origin}/__admin/webhooks/inbox?token=${inUrl.value}`,
      webhook_secret: hook.value,
    },
    mayShow: isFree,
  })
  await send('POST', '/__admin/snapshots', { body: { name: 'before' } })
  for (const kind of KINDS) {
    const remark = plant(kind, `a remark, ${kind}`, { stored: true, free: true }).value
    const body = { ...PAYMENT, remark }
    await send('POST', '/v1/transaction', { body, mayShow: isFree })
  }
  const events = listen(`${origin}/__admin/events`, adminToken)
  t.ok((await look(send)) >= 3 * KINDS.length, 'webhooks were sent')

  // ---- each kind of canary in each field, parameter and header of each operation

  const state = JSON.parse((await send('GET', '/__admin/state', { mayShow: inState })).text)
  let turn = SEED
  /** The kinds to try at one place: all of them, or in the short form the next one. */
  const kinds = () => (LONG ? KINDS : [KINDS[turn++ % KINDS.length]!])

  for (const { prefix, method, path, parameters, body: schema, example, components } of DESCRIBED) {
    const place = `${method} ${prefix}${path}`
    if (LEFT_OUT.test(place)) continue
    const filled = `${prefix}${path}`.replace(/\{\w+\}/g, ASHA)
    const isScript = /scenario|rules/.test(path)
    const body = place === 'PUT /__admin/state' ? state : (BODIES[place] ?? example ?? {})
    const mayShow = (canary: Canary) =>
      canary.free === true ||
      (isScript && method !== 'GET') ||
      (path.includes('/state') && inState(canary)) ||
      (place === 'POST /__admin/clients' && canary.place.endsWith('access_token'))
    const payload = schema ? { body } : {}

    for (const { in: where, name } of parameters)
      for (const kind of kinds()) {
        const canary = plant(kind, `${where} ${name} of ${place}`, {
          stored: name === 'Idempotency-Key',
          // A page shows the same rows again.
          free: name === 'page',
        })
        const query = where === 'query' ? `?${name}=${canary.value}` : ''
        const url = where === 'path' ? `${prefix}${path}`.replace(/\{\w+\}/g, canary.value) : filled
        const headers = where === 'header' ? { [name]: canary.value } : {}
        await send(method, `${url}${query}`, { ...payload, headers, mayShow })
      }
    for (const kind of kinds()) {
      const made = (what: string) => plant(kind, `${what} of ${place}`).value
      const [inQuery, agent] = [made('query'), made('agent')]
      for (const [url, headers] of [
        [`${filled}?${made('odd')}=1&token=${inQuery}&q=${inQuery}`, {}],
        [filled, { authorization: `Bearer ${made('bearer')}` }],
        [
          filled,
          {
            cookie: `session=${made('cookie')}`,
            'user-agent': `agent ${agent}`,
            'x-api-key': agent,
          },
        ],
      ] as const)
        await send(method, url, { ...payload, mayShow, headers })
    }
    if (!schema) continue
    for (const path of leaves(schema, components))
      for (const kind of kinds()) {
        const field = path.join('.')
        const canary = plant(kind, `${place}: ${field}`, { free: FREE.test(field) })
        const { isFine } = await send(method, filled, {
          body: withValue(body, path, canary.value),
          mayShow,
        })
        if (isFine) canary.stored = true
      }
    for (const kind of kinds()) {
      const unknown = plant(kind, `${place}: a field of no meaning`).value
      await send(method, filled, { body: { ...body, [unknown]: unknown }, mayShow })
      await send(method, filled, { body: `{"x": "${unknown}", }`, mayShow })
      await send(method, filled, {
        body: `${unknown}`,
        headers: { 'content-type': 'text/plain' },
        mayShow,
      })
    }
  }
  return {
    canaries,
    outputs,
    program,
    origin,
    adminToken,
    data,
    dir,
    events,
    send,
    requests: () => requests,
  }
}

/** Everything that the admin API shows of what happened. */
async function look(send: Send) {
  await send('POST', '/__admin/clock/advance', { body: { by: '1h' } })
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from = cursor && `&cursor=${cursor}`
    const { text: list } = await send('GET', `/__admin/requests?limit=100${from}`)
    const { requests, next } = JSON.parse(list)
    for (const { request_id } of requests) await send('GET', `/__admin/requests/${request_id}`)
    cursor = next
  }
  const { text: sent } = await send('GET', '/__admin/webhooks/deliveries?limit=100')
  const { deliveries } = JSON.parse(sent)
  for (const { delivery_id } of deliveries)
    await send('GET', `/__admin/webhooks/deliveries/${delivery_id}`, { mayShow: isFree })
  await send('GET', '/__admin/webhooks/inbox?limit=100', { mayShow: isFree })
  await send('GET', '/__admin/snapshots/before/diff')
  await send('GET', '/__admin/state', { mayShow: inState })
  await send('GET', '/__admin/clients', { mayShow: isFree })
  await send('GET', '/@inline/__admin/state', { mayShow: inState })
  await send('GET', '/@inline/v1/clientWebhook')
  await send('GET', '/__admin/timers')
  for (const page of ['/__admin/', '/openapi.json', '/__admin/openapi.json'])
    await send('GET', page)
  return deliveries.length as number
}

/** Reads a stream of events until `stop` is called. */
function listen(url: string, adminToken: string) {
  const stop = new AbortController()
  const reading = (async () => {
    let text = ''
    try {
      const answer = await fetch(url, {
        headers: { 'x-admin-token': adminToken },
        signal: stop.signal,
      })
      const decoder = new TextDecoder()
      for await (const chunk of answer.body!) text += decoder.decode(chunk, { stream: true })
    } catch (error) {
      if (!stop.signal.aborted) throw error
    }
    return text
  })()
  return () => {
    stop.abort()
    return reading
  }
}

t.test('what must not be seen is in no answer, log, stream, list, file and program', async (t) => {
  const all = await sweep(t)
  const { canaries, outputs, program, origin, adminToken, data, send } = all
  const put = (where: string, text: string, mayShow: Output['mayShow'] = nothing) =>
    outputs.push({ where, text, mayShow })

  await look(send)
  put('the stream of events', await all.events())
  // ---- other programs, and what this one said
  for (const words of ['requests', 'deliveries', 'health', 'scenario list', 'snapshot list']) {
    const actual = await run([...words.split(' '), '--url', origin, '--admin-token', adminToken])
    const isList = words === 'snapshot list'
    put(`payout-sandbox ${words}`, actual.stdout + actual.stderr, isList ? isFree : nothing)
  }
  const { stderr } = await (program as Program).stop()
  t.match(stderr, /client \\?"own\\?" created/, 'it says what it does')
  put('stderr of start', stderr)
  await badStarts(t, join(all.dir, 'bad'), canaries.plant, put)

  // ---- files
  const folder = join(data, '..')
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    put(`the file ${name}`, readFileSync(file, 'utf8'), ({ stored }) => stored === true)
    t.equal(statSync(file).mode & 0o077, 0, `${name} is its owner's alone`)
  }

  const leaks = new Map<string, string>()
  for (const { where, text, mayShow } of outputs)
    for (const canary of canaries.seenIn(text))
      if (!mayShow(canary) && !isReference(canary))
        leaks.set(`${canary.kind} put into ${canary.place}, seen in ${where}`, text.slice(0, 300))
  t.same([...leaks.keys()].slice(0, 40), [], `${leaks.size} leaks`)
  figures({
    'secrets planted': canaries.all.length,
    requests: all.requests(),
    'outputs searched': outputs.length,
    leaks: leaks.size,
  })
})

/** Starts and checks that are refused, with what must not be seen in what is wrong. */
async function badStarts(
  t: Test,
  dir: string,
  plant: ReturnType<typeof createCanaries>['plant'],
  put: (where: string, text: string, mayShow?: Output['mayShow']) => void,
) {
  // Numbers in one's own file are shown, so that one can find them; secrets are not.
  const isNumber = ({ kind }: Canary) => kind !== 'secret' && kind !== 'token'
  const secret = (kind: Kind, place: string) => plant(kind, place).value
  const user = { user_id: ASHA, email: 'a@example.com', mobile: '9812345670' }
  const files = {
    'bad.json': JSON.stringify({
      users: [{ ...user, created_at: secret('account', 'a bad fixture') }],
      bank_accounts: [{ account_number: `${secret('account', 'a bad account in fixtures')}x` }],
      kyc: [{ document_number: [secret('aadhaar', 'a bad document in fixtures')] }],
      clients: [{ access_token: { x: secret('token', 'a bad token in fixtures') } }],
      webhooks: [{ webhook_secret: [secret('secret', 'a bad secret in fixtures')] }],
    }),
    'payout-sandbox.config.json': JSON.stringify({
      admin_token: [secret('token', 'a bad token in the config file')],
    }),
  }
  mkdirSync(dir)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
  for (const args of [
    ['start', '--admin-token', `${secret('token', 'a bad --admin-token')} x`],
    ['start', '--memory', '--fixtures', join(dir, 'bad.json')],
    ['validate', join(dir, 'bad.json')],
    ['requests', '--url', 'http://127.0.0.1:9', '--admin-token', secret('token', 'a remote call')],
  ]) {
    const { code, stdout, stderr } = await run(args, { env: { PAYOUT_SANDBOX_PORT: '0' } })
    t.not(code, 0, args.join(' ').slice(0, 30))
    put(`payout-sandbox ${args[0]} that is refused`, stdout + stderr, isNumber)
  }
  const env = { PAYOUT_SANDBOX_ADMIN_TOKEN: `${secret('token', 'a bad variable')} x` }
  for (const options of [{ env }, { cwd: dir }]) {
    const { code, stdout, stderr } = await run(['start', '--memory', '--port', '0'], options)
    t.equal(code, 2)
    put('a start with bad options', stdout + stderr)
  }
}
