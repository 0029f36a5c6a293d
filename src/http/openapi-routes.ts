import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { validationFailed } from '../model/validation-errors.ts'
import type { AdminCall } from './admin-call.ts'
import { depsOf } from './app-deps.ts'
import { basePathOf } from './clients.ts'
import { JSON_TYPE } from './errors.ts'
import type { OpenApiDocument } from './openapi.ts'
import { adminDocument, CLIENT_SERVER } from './openapi-admin.ts'
import { type DocumentForm, serviceDocument, withTokens } from './openapi-service.ts'
import type { Operation } from './operation.ts'
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
