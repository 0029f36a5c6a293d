import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { idempotencyKey, type TokenUse, trailingSlash } from '../assumptions/requests.ts'
import { errorBody, newWords } from '../assumptions/responses.ts'
import { LATE_CALL } from '../content/timer-payloads.ts'
import { parseExact } from '../model/exact-json.ts'
import { traceOf } from '../model/formats.ts'
import { runsOperation } from '../scenarios/decide.ts'
import { depsOf } from './app-deps.ts'
import { hangUpSignal } from './connection.ts'
import type { Input, Operation } from './endpoint.ts'
import { JSON_TYPE, noRoute } from './errors.ts'
import { keyOf, LATER, runOnce, type StoredResponse, type StoreResponse } from './idempotency.ts'
import { logRequest } from './log-request.ts'
import { type CallDecision, decideCall } from './scenario-decision.ts'
import { respondedWith, sendBroken } from './scenario-response.ts'
import { validate } from './validation.ts'

type Call = { op: Operation; request: FastifyRequest; decision: CallDecision; checked: unknown }

const inputOf = ({ params, query, body }: FastifyRequest) => ({ params, query, body }) as Input

/** Throws the errors of the request, then lets the scenarios decide. */
function decide(op: Operation, request: FastifyRequest): Call {
  validate(op, request)
  const checked = op.check?.(request.world, inputOf(request))
  const decision = decideCall(op.id, request)
  request.isDecided = true
  request.rule = decision.rule
  request.stepsRule = decision.stepsRule
  return { op, request, decision, checked }
}

const isUnchanged = ({ decision: { respond, delay, fault } }: Call) => !respond && !delay && !fault

/** Carries out the operation; its events have the trace of the call. */
function resultOf({ op, request, decision, checked }: Call): object {
  const { world, headers } = request
  const { lifecycles, runs_first: isFirst = false } = decision
  const traceparent = headers['traceparent']
  const handle = () => op.handle(world, inputOf(request), lifecycles, checked)
  if (traceparent === undefined && !isFirst) return handle()
  return world.webhooks.deliveries.causedBy(traceOf(traceparent), isFirst, handle)
}

/** The scenario's own response, or that of the operation, which `store` stores in the same change, if it's executed. */
function respond(call: Call, store?: StoreResponse): StoredResponse {
  const { op, request, decision } = call
  const { world } = request
  const { fault, late_ms, lifecycles } = decision
  function execute() {
    const body = JSON.stringify(world.scenarios.assumptions.get(newWords)(resultOf(call)))
    store?.({ status: op.status, body })
    return { status: op.status, body }
  }
  function executeLater(after: number) {
    const key = store?.({ status: LATER, body: '' })
    const trace = traceOf(request.headers['traceparent'])
    const payload = {
      operation: op.id,
      body: request.body,
      lifecycles,
      ...(key && { key }),
      ...(trace && { traceparent: trace }),
    }
    world.clock.timers.schedule({ due_at: world.clock.now() + after, kind: LATE_CALL, payload })
  }
  let done: StoredResponse = { status: op.status, body: '{}' }
  if (late_ms !== undefined) world.tables.change(() => executeLater(late_ms))
  else if (runsOperation(decision)) done = store ? world.tables.change(execute) : execute()
  if (op.method === 'POST' && (decision.respond || fault)) request.made = done.body
  if (decision.respond)
    done = respondedWith(decision.respond, world.scenarios.assumptions.get(errorBody))
  return { ...done, fault }
}

/** The same, after the delay of a scenario, or before it: then its events are sent while the caller still waits. */
async function respondLater(call: Call, reply: FastifyReply, store?: StoreResponse) {
  const { op, request, decision } = call
  const { world } = request
  const ms = decision.delay ? world.scenarios.delayOf(decision.delay) : 0
  if (ms === 0) return respond(call, store)
  const { delayed } = world.requests
  const signal = hangUpSignal(reply)
  if (decision.runs_first) {
    const done = respond(call, store)
    // If the caller leaves now, the log has what it did not learn.
    const { made } = request
    if (op.method === 'POST') request.made ??= done.body
    const end = () => {
      request.made = made
      return done
    }
    return delayed.after(ms, end, signal)
  }
  const later = () => {
    // What was found then may be otherwise now.
    return respond({ ...call, checked: op.check?.(world, inputOf(request)) }, store)
  }
  return delayed.after(ms, later, signal)
}

function send(op: Operation, reply: FastifyReply, response: StoredResponse) {
  const { status, body, replayed, headers, fault } = response
  logRequest(reply.request.world, reply.request, op.id, response)
  if (headers) reply.headers(headers)
  if (replayed) reply.header('idempotency-replayed', 'true')
  if (!reply.hasHeader('content-type')) reply.header('content-type', JSON_TYPE)
  if (fault) return sendBroken(reply, fault, status, body)
  return reply.code(status).send(body)
}

export function serveOperation(
  app: FastifyInstance,
  op: Operation,
  { explain }: { explain: boolean },
) {
  function setRuleHeader(reply: FastifyReply, { decision: { rule } }: Call) {
    if (explain && rule) reply.header('x-sandbox-rule', rule.replaceAll(/[^\x20-\x7e]/g, '?'))
  }

  async function handleWithKey(request: FastifyRequest, reply: FastifyReply, header: string) {
    const scope = {
      key: keyOf(header),
      route: `${op.method} ${op.url}`,
      // A number isn't equal to a string of the same digits.
      body: request.bodyText === undefined ? undefined : parseExact(request.bodyText, '\\u0000'),
    }
    const done = await runOnce(request.world, scope, (store) => {
      const call = decide(op, request)
      setRuleHeader(reply, call)
      return isUnchanged(call) ? respond(call, store) : respondLater(call, reply, store)
    })
    return send(op, reply, done)
  }

  /** Responds when the change is written, together with the other changes of this turn of the event loop. */
  function handleWithoutKey(request: FastifyRequest, reply: FastifyReply) {
    const { world } = request
    let call!: Call
    const done = world.tables.unit.batch(() => {
      call = decide(op, request)
      return isUnchanged(call) ? respond(call) : undefined
    })
    depsOf(request).onHandled?.()
    setRuleHeader(reply, call)
    if (!done) return respondLater(call, reply).then((later) => send(op, reply, later))
    world.tables.unit.onDurable((error) => {
      if (error) reply.send(error)
      else send(op, reply, done)
    })
  }

  function handler(request: FastifyRequest, reply: FastifyReply) {
    const header = op.method === 'POST' ? request.headers['idempotency-key'] : undefined
    if (
      header !== undefined &&
      request.world.scenarios.assumptions.get(idempotencyKey) === 'honoured'
    )
      return handleWithKey(request, reply, String(header))
    return handleWithoutKey(request, reply)
  }

  const isRequired = (use: TokenUse) => use.isRequired(op.tokenNeeded)
  function findClient(request: FastifyRequest, _reply: unknown, done: () => void) {
    depsOf(request).choice.enterService(request, isRequired)
    checkTrailingSlash(request)
    done()
  }

  // The readings of the client determine the schemas, so Fastify does not validate.
  const { method, url } = op
  // A response to HEAD has no body, because Node leaves it out.
  const methods = method === 'GET' ? ['GET', 'HEAD'] : method
  const route = { method: methods, config: { endpoint: op }, onRequest: findClient, handler }
  app.route({ ...route, url })
  // Not Fastify's `ignoreTrailingSlash`, which reads /bank/ as /bank and not as /bank/:userId with an empty id.
  app.route({ ...route, url: `${url}/`, schema: { hide: true } })
}

/** The readings of the client say whether a path with a slash at its end exists. */
function checkTrailingSlash({ world, method, url, originalUrl }: FastifyRequest) {
  const [path] = url.split(/[?#]/, 1)
  if (path!.endsWith('/') && world.scenarios.assumptions.get(trailingSlash) === 'refused')
    throw noRoute(method, originalUrl)
}
