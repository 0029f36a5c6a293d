import * as z from 'zod'
import { VERSION } from '../config/version.ts'
import { ErrorResponse } from '../model/envelope.ts'
import { ERRORS, type ErrorCode } from '../model/errors.ts'
import { type AuthMode, isTokenNeeded } from './clients.ts'
import { BODY_ERRORS } from './json-body.ts'
import examples from './openapi-examples.json' with { type: 'json' }
import { type ExampleRequest, SERVICE_REQUESTS } from './openapi-requests.ts'
import { webhooksOf } from './openapi-webhooks.ts'
import { COMMON_ERRORS, type Operation } from './operation.ts'

export type Json = Record<string, unknown>

/** `/user/:userId` -> `/user/{userId}`. */
export const pathOf = (url: string) => url.replace(/:(\w+)/g, '{$1}')

/** The JSON Schema of a schema, with references to components for its named parts. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const found = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
  }) as Json
  delete found['$schema']
  return found
}

/** Collects the schema components of one document, by name. */
export function createComponents() {
  const components: Json = {}
  const clean = (part: unknown): Json => {
    const text = JSON.stringify(part).replaceAll('"#/$defs/', '"#/components/schemas/')
    const { id: _, $id: __, ...rest } = JSON.parse(text) as Json
    return rest
  }

  /** Adds a schema and returns a reference to it; `fallbackName` is for a schema without a name. */
  function ref(schema: z.ZodType, io: 'input' | 'output', fallbackName?: string): Json {
    const own = z.globalRegistry.get(schema)?.id
    const name = own ?? fallbackName
    if (name === undefined)
      throw new Error('A schema of a route has no name: give it one by .meta({ id })')
    // $defs has every named part, including the schema itself.
    const { $defs = {}, ...rest } = schemaOf(schema, io) as { $defs?: Json }
    const parts = own === undefined ? { ...$defs, [name]: rest } : $defs
    for (const [part, written] of Object.entries(parts)) components[part] ??= clean(written)
    return { $ref: `#/components/schemas/${name}` }
  }

  return {
    ref,
    json: (...schema: Parameters<typeof ref>) => ({
      'application/json': { schema: ref(...schema) },
    }),
    /** All components so far, sorted by name. */
    all: () => Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
    /** The body of a request, with its example. */
    requestBody(schema: z.ZodType, fallbackName?: string, { body }: ExampleRequest = {}): Json {
      const required = !schema.safeParse(undefined).success
      const content = { schema: ref(schema, 'input', fallbackName), example: body }
      return { required, content: { 'application/json': content } }
    },
    /** Adds an example to a named schema. */
    show(name: string, example: unknown) {
      components[name] = { ...(components[name] as Json), examples: [example] }
    },
  }
}

export type Components = ReturnType<typeof createComponents>

/** Parameters of a path or a query. */
export function parametersOf(
  object: z.ZodObject | undefined,
  place: 'path' | 'query',
  { params = {} }: ExampleRequest = {},
): Json[] {
  if (!object) return []
  const { properties = {}, required = [] } = schemaOf(object, 'input') as {
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

function errorCodesOf(op: Operation): ErrorCode[] {
  const codes: ErrorCode[] = [...COMMON_ERRORS, ...op.errors, 'storage_unavailable']
  codes.push('host_not_allowed', 'request_timeout', 'headers_too_large')
  if (op.body) codes.push(...BODY_ERRORS)
  if (op.method === 'POST') codes.push('idempotency_in_flight', 'idempotency_mismatch')
  return codes
}

const header = (description: string) => ({ description, schema: { type: 'string' } })

const HEADERS_OF: Readonly<Partial<Record<ErrorCode, Json>>> = {
  unauthorized: { 'WWW-Authenticate': header('Always `Bearer`.') },
  server_busy: { 'Retry-After': header('Seconds to wait before a retry.') },
  storage_unavailable: { 'Retry-After': header('Seconds to wait before a retry.') },
}

function headersOf(codes: readonly ErrorCode[]): Json {
  const headers = Object.assign({}, ...codes.map((code) => HEADERS_OF[code]))
  return Object.keys(headers).length > 0 ? { headers } : {}
}

/** The error responses by status; each description lists its error codes. */
export function errorResponses({ json }: Components, codes: readonly ErrorCode[]): Json {
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
          content: json(ErrorResponse, 'output'),
        },
      ]),
  )
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'For 24 hours, the same request with the same key gets the stored response.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const REPLAYED = {
  description:
    'The response is the stored response of an earlier request with the same Idempotency-Key.',
  schema: { type: 'string', const: 'true' },
}

// The statuses of stored responses; 401 and 5xx are never stored.
const STORED = ['200', '201', '400', '404', '409', '422']

/** Adds the header of a stored response. */
function withReplayed(responses: Json): Json {
  for (const status of STORED) {
    const response = responses[status] as Json | undefined
    if (response)
      response['headers'] = { ...(response['headers'] as Json), 'Idempotency-Replayed': REPLAYED }
  }
  return responses
}

/** Adds the example of an operation: a real response of the sandbox; a test generates the file. */
const withExample = (content: { 'application/json': Json }, id: string) => ({
  'application/json': {
    ...content['application/json'],
    example: (examples as Json)[id],
  },
})

/** The examples of the resources, taken from the example responses. */
const RESOURCES: Json = {
  User: examples.getUser.data,
  KycRecord: examples.submitKyc.data[0]!.data,
  BankAccount: examples.listBankAccounts.data[0],
  Transaction: examples.getTransaction.data[0],
  HistoryRecord: examples.listTransactionHistory.data.transactions[0],
  ClientProfile: examples.getClientProfile.data,
  Webhook: examples.getWebhook.data,
}

function operationOf(op: Operation, components: Components, auth: AuthMode): Json {
  const { json } = components
  const example = SERVICE_REQUESTS[op.id]
  const responses: Json = {
    [op.status]: {
      description: op.summary,
      content: withExample(json(op.response, 'output'), op.id),
    },
    ...errorResponses(components, errorCodesOf(op)),
  }
  return {
    operationId: op.id,
    tags: [op.tag],
    summary: op.summary,
    ...(op.description && { description: op.description }),
    // An empty requirement makes the token optional.
    security: isTokenNeeded(op, auth) ? [{ accessToken: [] }] : [{ accessToken: [] }, {}],
    parameters: [
      ...parametersOf(op.params, 'path', example),
      ...parametersOf(op.query, 'query'),
      ...(op.method === 'POST' ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(op.body && { requestBody: components.requestBody(op.body, undefined, example) }),
    responses: op.method === 'POST' ? withReplayed(responses) : responses,
  }
}

const TAGS: Readonly<Record<string, string>> = {
  Users: 'The payers and the receivers of payments.',
  KYC: 'Documents of a user and the results of their verification.',
  'Bank accounts': 'Accounts of a user, verified when they are added.',
  Transactions: 'Payments from user to user.',
  'Transaction history': 'The same payments as flat payout records.',
  Client: 'The integrating business account.',
  Webhook: 'The URL to which the client’s events are sent.',
}

/** The service's OpenAPI 3.1 document, generated from the operations and their zod schemas; `auth` is the mode of the server. */
export function openApiDocument(
  operations: readonly Operation[],
  serverUrl: string,
  auth: AuthMode = 'spec',
): Json {
  const components = createComponents()
  const paths: Record<string, Json> = {}
  for (const op of operations) {
    const path = pathOf(op.url)
    paths[path] = { ...paths[path], [op.method.toLowerCase()]: operationOf(op, components, auth) }
  }
  for (const [name, example] of Object.entries(RESOURCES)) components.show(name, example)
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Payout and user-account service (sandbox)',
      version: VERSION,
      description:
        'A local sandbox of a payout and user-account service. Every number in it is made up; it moves no money. A path responds to a method that it does not support with 405 and `Allow`. A call with a new client name in its base path (`/@name/v1`) gets 409 `client_limit_reached` if the maximum number of clients exists already.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    tags: tags.map((name) => ({ name, description: TAGS[name] })),
    paths,
    webhooks: webhooksOf((schema) => components.ref(schema, 'output')),
    components: {
      schemas: components.all(),
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', description: 'A token of the fixtures.' },
      },
    },
  }
}
