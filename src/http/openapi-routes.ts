import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { validationFailed } from '../model/validation-errors.ts'
import { ADMIN_TAGS, type AdminCall } from './admin-call.ts'
import { depsOf } from './app-deps.ts'
import { basePathOf } from './clients.ts'
import type { Operation } from './endpoint.ts'
import { JSON_TYPE } from './errors.ts'
import { documentOf, type OpenApiDocument, type RouteSchema } from './openapi.ts'
import { ADMIN_REQUESTS } from './openapi-requests.ts'
import { type DocumentForm, serviceDocument, withTokens } from './openapi-service.ts'
import { refuseUnknownQuery } from './serve-admin.ts'
import { parsePart } from './validation.ts'

const Flag = z
  .string()
  .regex(/^(?:true)?$/, { error: 'must be true or without a value' })
  .transform(() => true)
  .default(false)

/** The query of the document of the service: `?strict` and `?strict=true` are the same. */
const DocumentQuery = z.object({ strict: Flag, contract: Flag })

function formOf({ strict, contract }: z.output<typeof DocumentQuery>): DocumentForm {
  if (strict && contract)
    throw validationFailed([
      { field: 'strict', code: 'invalid', message: 'cannot be combined with contract' },
    ])
  return strict ? 'strict' : contract ? 'contract' : 'default'
}

/** Serves the documents of the service: which calls require a token depends on the client of the base path. */
export function serveServiceDocument(app: FastifyInstance, operations: readonly Operation[]) {
  const forms = new Map<DocumentForm, Promise<OpenApiDocument>>()
  serveDocument(app, async (request) => {
    refuseUnknownQuery(request, DocumentQuery)
    const query = parsePart(DocumentQuery, request.query, 'querystring')
    const form = formOf(query as z.output<typeof DocumentQuery>)
    const { choice } = depsOf(request)
    const { isRequired } = choice.tokenUse(request)
    const document = forms.get(form) ?? serviceDocument(operations, form)
    forms.set(form, document)
    return withTokens(await document, operations, isRequired, choice.tokenOf(request))
  })
}

export function serveAdminDocument(app: FastifyInstance, calls: readonly AdminCall[]) {
  let made: Promise<OpenApiDocument> | undefined
  const documentFor = async (request: FastifyRequest) => {
    refuseUnknownQuery(request, undefined)
    made ??= adminDocument(calls)
    const document = await made
    if (basePathOf(request) !== '') return document
    return { ...document, servers: [...document.servers, CLIENT_SERVER] }
  }
  serveDocument(app, documentFor, { sameSiteOnly: true })
}

/** Serves `openapi.json`. Its servers are absolute: a client that is generated from its URL calls this sandbox. */
function serveDocument(
  app: FastifyInstance,
  documentFor: (request: FastifyRequest) => Promise<OpenApiDocument>,
  config: FastifyContextConfig = {},
) {
  app.get('/openapi.json', { config }, async (request, reply) => {
    const document = await documentFor(request)
    // A call that is tried from this document must reach the client of the path.
    const base = basePathOf(request)
    const scheme = request.headers['x-forwarded-proto'] === 'https' ? 'https' : request.protocol
    const origin = `${scheme}://${request.host}`
    const servers = document.servers.map((one) => ({ ...one, url: origin + base + one.url }))
    reply.header('content-type', JSON_TYPE)
    return reply.send(JSON.stringify({ ...document, servers }))
  })
}

// A token or the base path chooses the client; the admin token is needed only if one is set.
const SECURITY = [{}, { adminToken: [] }, { accessToken: [] }, { adminToken: [], accessToken: [] }]

const LAST_EVENT_ID = {
  type: 'string',
  description:
    'The id of the last event that the reader has received. The stream starts with the events after it.',
}

function amend(schema: RouteSchema, { stream, status }: AdminCall) {
  if (!stream) return
  schema.headers = { type: 'object', properties: { 'Last-Event-ID': LAST_EVENT_ID } }
  const response = schema.response[status]!
  response.content = { 'text/event-stream': response.content['application/json']! }
}

/** The server of a client by its name, below the address of the sandbox: a URL with variables must be absolute. */
const CLIENT_SERVER = {
  url: '/@{client}/__admin',
  description: 'A client by its name.',
  variables: { client: { default: 'default' } },
}

export const adminDocument = (calls: readonly AdminCall[]): Promise<OpenApiDocument> =>
  documentOf(calls, {
    title: 'payout-sandbox admin API',
    description: 'Control of a running payout-sandbox: its clock, clients, scenarios, webhooks.',
    servers: [
      {
        url: '/__admin',
        description: 'The client of the bearer token or base path, or the default one.',
      },
    ],
    tags: Object.fromEntries(Object.entries(ADMIN_TAGS).map(([name, [about]]) => [name, about])),
    securitySchemes: {
      adminToken: {
        type: 'apiKey',
        in: 'header',
        name: 'X-Admin-Token',
        description: 'The value of --admin-token, or the token that is printed at start.',
      },
      accessToken: { type: 'http', scheme: 'bearer', description: 'A client’s access token.' },
    },
    securityOf: ({ open, raw }) => (open || raw ? [] : SECURITY),
    requests: ADMIN_REQUESTS,
    responseForm: 'response',
    amend,
  })
