import type * as z from 'zod'
import { VERSION } from '../config/package.ts'
import { ErrorResponse } from '../model/error-response.ts'
import { ERRORS, type ErrorCode } from '../model/errors.ts'
import type { Endpoint } from './endpoint.ts'
import { type Components, createComponents } from './openapi-components.ts'
import type { ExampleRequest } from './openapi-requests.ts'
import { type Json, type ResponseForm, schemaOf } from './openapi-schema.ts'

/** An operation of the document, before an API adds its own parts. */
export type OpenApiOperation = Json & {
  parameters: Json[]
  responses: Record<string, Json & { content: Record<string, Json> }>
}

/** A document, whose servers are relative until a call asks for it. */
export type OpenApiDocument = Json & {
  servers: readonly { url: string; description?: string }[]
  paths: Record<string, Json>
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
  amend(operation: OpenApiOperation, endpoint: E, components: Components): void
  /** Examples of named schemas. */
  examples?: Json
  webhooks?(components: Components): Json
}

const upper = (id: string) => id[0]!.toUpperCase() + id.slice(1)

/** Parameters of a path or a query. */
function parametersOf(
  object: z.ZodObject | undefined,
  place: 'path' | 'query',
  { params = {} }: ExampleRequest = {},
): Json[] {
  if (!object) return []
  const { properties = {}, required = [] } = schemaOf(object, 'parameter') as {
    properties?: Json
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: place === 'query' ? querySchema(name, schema as Json) : schema,
    ...(place === 'path' && params[name] !== undefined && { example: params[name] }),
  }))
}

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

const header = (description: string) => ({ description, schema: { type: 'string' } })

const RETRY_AFTER = { 'Retry-After': header('Seconds to wait before a retry.') }
const HEADERS_OF: Readonly<Partial<Record<ErrorCode, Json>>> = {
  unauthorized: { 'WWW-Authenticate': header('Always `Bearer`.') },
  rate_limited: RETRY_AFTER,
  server_busy: RETRY_AFTER,
  service_unavailable: RETRY_AFTER,
  storage_unavailable: RETRY_AFTER,
}

function headersOf(codes: readonly ErrorCode[]): Json {
  const headers = Object.assign({}, ...codes.map((code) => HEADERS_OF[code]))
  return Object.keys(headers).length > 0 ? { headers } : {}
}

/** The error responses by status; each description lists its error codes. */
function errorResponses(
  { json }: Components,
  codes: readonly ErrorCode[],
): OpenApiOperation['responses'] {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const [status] = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, list]) => [
        String(status),
        {
          description: list.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join(' '),
          ...headersOf(list),
          content: json(ErrorResponse, 'response'),
        },
      ]),
  )
}

function bodyOf(
  { id, body, raw }: Endpoint,
  components: Components,
  example?: ExampleRequest,
): Json {
  if (raw) return { requestBody: { content: { '*/*': { schema: {}, example: example?.body } } } }
  return body ? { requestBody: components.requestBody(body, `${upper(id)}Body`, example) } : {}
}

function operationOf<E extends Endpoint>(
  endpoint: E,
  components: Components,
  { securityOf, requests, amend }: ApiDescription<E>,
): Json {
  const { id, tag, summary, description, params, query, status, response, errors } = endpoint
  const example = requests[id]
  const operation: OpenApiOperation = {
    operationId: id,
    tags: [tag],
    summary,
    description: description ?? `${summary}.`,
    security: securityOf(endpoint),
    parameters: [...parametersOf(params, 'path', example), ...parametersOf(query, 'query')],
    ...bodyOf(endpoint, components, example),
    responses: {
      [status]: {
        description: summary,
        content: components.json(response, 'response', `${upper(id)}Response`),
      },
      ...errorResponses(components, errors),
    },
  }
  amend(operation, endpoint, components)
  return operation
}

/** The OpenAPI 3.1 document of an API, generated from its endpoints and their zod schemas. */
export function documentOf<E extends Endpoint>(
  endpoints: readonly E[],
  api: ApiDescription<E>,
): OpenApiDocument {
  const components = createComponents(api.responseForm)
  const paths: Record<string, Json> = {}
  for (const endpoint of endpoints) {
    // `/user/:userId` -> `/user/{userId}`
    const path = endpoint.url.replace(/:(\w+)/g, '{$1}')
    const operation = operationOf(endpoint, components, api)
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation }
  }
  for (const [name, example] of Object.entries(api.examples ?? {})) components.show(name, example)
  const tags = [...new Set(endpoints.map(({ tag }) => tag))]
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: VERSION,
      description: api.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: api.servers,
    tags: tags.map((name) => ({ name, description: api.tags[name] })),
    paths,
    ...(api.webhooks && { webhooks: api.webhooks(components) }),
    components: { schemas: components.all(), securitySchemes: api.securitySchemes },
  }
}
