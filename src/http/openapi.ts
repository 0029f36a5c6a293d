import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import Fastify, { type RouteOptions } from 'fastify'
import type * as z from 'zod'
import { ENVELOPE } from '../assumptions/responses.ts'
import { VERSION } from '../config/package.ts'
import { ERRORS, type ErrorCode, ErrorResponse } from '../model/errors.ts'
import type { Endpoint } from './endpoint.ts'
import type { ExampleRequest } from './openapi-requests.ts'
import {
  type Components,
  createComponents,
  type Json,
  type ResponseForm,
  schemaOf,
} from './openapi-schema.ts'

type Response = { description: string; headers?: Json; content: Record<string, Json> }

/** What @fastify/swagger makes an operation from. */
export type RouteSchema = Json & { headers?: Json; response: Record<string, Response> }

export type Parameter = Json & { name: string; in: 'path' | 'query' | 'header'; schema: Json }
export type Operation = Json & { parameters?: Parameter[]; requestBody?: Json & { content: Json } }

/** A document, whose servers are relative until a call asks for it. */
export type OpenApiDocument = Json & {
  servers: readonly { url: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
}

/** What is in the document of one API besides its endpoints. */
export type ApiDescription<E extends Endpoint> = {
  title: string
  description: string
  servers: OpenApiDocument['servers']
  /** What the endpoints of each tag have in common. */
  tags: Readonly<Record<string, string>>
  securitySchemes: Json
  /** The alternative ways to authenticate; an empty one makes the others optional. */
  securityOf(endpoint: E): readonly Json[]
  requests: Readonly<Record<string, ExampleRequest>>
  responseForm: ResponseForm
  /** Adds what only this API has. */
  amend(schema: RouteSchema, endpoint: E, components: Components): void
  examples?: Json
  webhooks?(components: Components): Json
}

const upper = (id: string) => id[0]!.toUpperCase() + id.slice(1)

/** `page` and `limit` are strings in the schema, but integers in the document. */
const querySchema = (name: string, schema: Json): Json => {
  const fallback = schema['default']
  // A `limit` of a list without pages describes itself.
  if ((name !== 'page' && name !== 'limit') || typeof fallback !== 'string') return schema
  return {
    type: 'integer',
    minimum: 1,
    default: Number(fallback),
    ...(name === 'limit' && {
      description: 'Rows per page. The maximum is 100; a larger number counts as 100.',
    }),
  }
}

/** The schema of a path or a query, with each parameter as the document shows it. */
function parametersOf(object: z.ZodObject, shown: (name: string, schema: Json) => Json): Json {
  const { properties = {}, ...rest } = schemaOf(object, 'parameter') as { properties?: Json }
  const entries = Object.entries(properties).map(([name, one]) => [name, shown(name, one as Json)])
  return { ...rest, properties: Object.fromEntries(entries) }
}

const header = (description: string) => ({ description, type: 'string' })

const RETRY_AFTER = { 'Retry-After': header('Seconds to wait before a retry.') }
const HEADERS_OF: Readonly<Partial<Record<ErrorCode, Json>>> = {
  unauthorized: { 'WWW-Authenticate': header('Always `Bearer`.') },
  rate_limited: RETRY_AFTER,
  service_unavailable: RETRY_AFTER,
  storage_unavailable: RETRY_AFTER,
}

function headersOf(codes: readonly ErrorCode[]): Json {
  const headers = Object.assign({}, ...codes.map((code) => HEADERS_OF[code]))
  return Object.keys(headers).length > 0 ? { headers } : {}
}

export function errorContent({ json }: Components, code: ErrorCode) {
  const [status, message] = ERRORS[code]
  const example = JSON.parse(ENVELOPE.text({ status, code, message }))
  const { schema } = json(ErrorResponse, 'response')['application/json']
  return { 'application/json': { schema, example } }
}

function errorResponses(components: Components, codes: readonly ErrorCode[]) {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const [status] = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      String(status),
      {
        description: list.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join(' '),
        ...headersOf(list),
        content: errorContent(components, list[0]!),
      },
    ]),
  )
}

function routeSchemaOf<E extends Endpoint>(
  endpoint: E,
  components: Components,
  { securityOf, requests, amend }: ApiDescription<E>,
): RouteSchema {
  const { id, tag, summary, description, params, query, body, raw, status } = endpoint
  const example = requests[id]?.params ?? {}
  const schema: RouteSchema = {
    operationId: id,
    tags: [tag],
    summary,
    description: description ?? `${summary}.`,
    security: securityOf(endpoint),
    ...(params && {
      params: parametersOf(params, (name, one) =>
        example[name] === undefined ? one : { ...one, examples: [example[name]] },
      ),
    }),
    ...(query && { querystring: parametersOf(query, querySchema) }),
    ...(body && { body: components.ref(body, 'request', `${upper(id)}Body`) }),
    ...(raw && { body: {}, consumes: ['*/*'] }),
    response: {
      [status]: {
        description: summary,
        content: components.json(endpoint.response, 'response', `${upper(id)}Response`),
      },
      ...errorResponses(components, endpoint.errors),
    },
  }
  amend(schema, endpoint, components)
  return schema
}

/** What @fastify/swagger can't say: an optional body, its example, and a parameter whose schema has the description. */
function complete(operation: Operation, { body }: Endpoint, example: ExampleRequest = {}) {
  const parameters = (operation.parameters ?? []).map(({ description, ...parameter }) => {
    if (description === undefined) return parameter
    return parameter.in === 'header'
      ? { ...parameter, description }
      : { ...parameter, schema: { ...parameter.schema, description } }
  }) as Parameter[]
  const of = (place: string) => parameters.filter((one) => one.in === place)
  operation.parameters = [...of('path'), ...of('query'), ...of('header')]
  const { requestBody } = operation
  if (!requestBody) return
  if (body) requestBody['required'] = !body.safeParse(undefined).success
  else delete requestBody['required']
  for (const media of Object.values(requestBody.content) as Json[])
    if (example.body !== undefined) media['example'] = example.body
}

/** The OpenAPI 3.1 document of an API, which @fastify/swagger makes from the routes of an instance that serves nothing. */
export async function documentOf<E extends Endpoint>(
  endpoints: readonly E[],
  api: ApiDescription<E>,
): Promise<OpenApiDocument> {
  const { default: swagger } = await import('@fastify/swagger')
  const components = createComponents(api.responseForm)
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]))
  const app = Fastify({ exposeHeadRoutes: false })
  const options = {
    convertConstToEnum: false,
    stripBasePath: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: api.title,
        version: VERSION,
        description: api.description,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: api.servers,
      tags: [...byTag(endpoints)].map((name) => ({ name, description: api.tags[name] })),
      components: { securitySchemes: api.securitySchemes },
    },
    transform: ({ url, route }: { url: string; route: RouteOptions }) => ({
      url,
      schema: routeSchemaOf(byId.get(route.config!.endpoint!.id)!, components, api),
    }),
    transformObject({ openapiObject }: { openapiObject: OpenApiDocument & { components: Json } }) {
      const { components: parts, ...document } = openapiObject
      for (const operation of Object.values(document.paths).flatMap(Object.values<Operation>)) {
        const id = String(operation['operationId'])
        complete(operation, byId.get(id)!, api.requests[id])
      }
      for (const [name, example] of Object.entries(api.examples ?? {}))
        components.show(name, example)
      const webhooks = api.webhooks?.(components)
      return {
        ...document,
        ...(webhooks && { webhooks }),
        components: { ...parts, schemas: components.all() },
      }
    },
  }
  // The plugin's types know neither our webhooks nor schemas that are references.
  await app.register(swagger, options as unknown as FastifyDynamicSwaggerOptions)
  for (const { id, method, url } of endpoints)
    app.route({ method, url, config: { endpoint: { id } }, handler: () => undefined })
  await app.ready()
  const document = app.swagger() as unknown as OpenApiDocument
  await app.close()
  return document
}

const byTag = (endpoints: readonly Endpoint[]) => new Set(endpoints.map(({ tag }) => tag))
