import type { OpenApiDocument, Operation, Parameter } from './openapi.ts'
import type { Json } from './openapi-schema.ts'

// What the contract does not show, by the assumption that says what it does. Everything else of the document is the contract's.

const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CreateUser: { user_type: 'own_request_fields' },
  CreateTransaction: {
    reference_id: 'reference_id',
    remark: 'own_request_fields',
    currency_code: 'own_request_fields',
  },
}
const WITH_LIMIT = new Set(['listUsers', 'listTransactions'])
const LIMIT = 'limit_parameter'
const KEY = 'idempotency_key'
const ERRORS = 'error_body'
const MARK = 'x-sandbox-assumption'

type Marked = Json & { description?: string }

const mark = <T extends Marked>(part: T, assumption: string): T => ({
  ...part,
  [MARK]: assumption,
  description: [part.description, `Not in the contract: see the assumption \`${assumption}\`.`]
    .filter(Boolean)
    .join(' '),
})

const mapValues = <T>(object: Readonly<Record<string, T>>, change: (one: T, name: string) => T) =>
  Object.fromEntries(Object.entries(object).map(([name, one]) => [name, change(one, name)]))

/** An amount as a string, among the forms that a number also has. */
const markStrings = ({ anyOf, ...rest }: Json): Json => ({
  ...rest,
  anyOf: (anyOf as Marked[]).map((one) =>
    one['type'] === 'string' ? mark(one, 'amount_as_text') : one,
  ),
})

function markedSchema(schema: Json, fields: Readonly<Record<string, string>>): Json {
  const properties = mapValues(schema['properties'] as Record<string, Marked>, (one, name) => {
    if (fields[name] !== undefined) return mark(one, fields[name])
    return name === 'amount' ? markStrings(one) : one
  })
  return { ...schema, properties }
}

type Response = Marked & { headers?: Record<string, Marked> }

function markedOperation(operation: Operation): Operation {
  const { parameters = [], ...rest } = operation
  const hasLimit = WITH_LIMIT.has(String(operation['operationId']))
  const markedParameter = (one: Parameter): Parameter => {
    if (one.in === 'header') return mark(one, KEY)
    if (one.name !== 'limit' || !hasLimit) return one
    // The description of a parameter of the query is in its schema.
    return { ...one, [MARK]: LIMIT, schema: mark(one.schema, LIMIT) }
  }
  const markedResponse = (response: Response, status: string): Response => {
    if (!status.startsWith('2')) return mark(response, ERRORS)
    const { headers } = response
    return headers
      ? { ...response, headers: mapValues(headers, (one) => mark(one, KEY)) }
      : response
  }
  return {
    ...rest,
    parameters: parameters.map(markedParameter),
    responses: mapValues(operation['responses'] as Record<string, Response>, markedResponse),
  } as Operation
}

const mapOperations = (
  paths: OpenApiDocument['paths'],
  change: (operation: Operation) => Operation,
): OpenApiDocument['paths'] => mapValues(paths, (path) => mapValues(path, change))

const schemasOf = ({ components }: OpenApiDocument) =>
  (components as { schemas: Record<string, Json> }).schemas

const withSchemas = (document: OpenApiDocument, schemas: Json): OpenApiDocument => ({
  ...document,
  components: { ...(document['components'] as Json), schemas },
})

/** The document with a mark on everything that the contract does not show. */
export function markOwn(document: OpenApiDocument): OpenApiDocument {
  const schemas = mapValues(schemasOf(document), (schema, name) =>
    FIELDS[name] ? markedSchema(schema, FIELDS[name]) : schema,
  )
  const webhooks = mapValues(document['webhooks'] as Record<string, { post: Marked }>, (one) => ({
    ...one,
    post: mark(one.post, 'webhook_body'),
  }))
  const paths = mapOperations(document.paths, markedOperation)
  return withSchemas({ ...document, paths, webhooks }, schemas)
}

function unmarked(value: unknown): unknown {
  const isOwn = (one: unknown) => typeof one === 'object' && one !== null && MARK in one
  if (Array.isArray(value)) return value.filter((one) => !isOwn(one)).map(unmarked)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, one]) => !isOwn(one))
  const { anyOf, ...rest } = Object.fromEntries(entries.map(([name, one]) => [name, unmarked(one)]))
  if (anyOf === undefined) return rest
  // Some generators don't read a union of one.
  const [only, ...others] = anyOf as Json[]
  return others.length > 0 ? { ...rest, anyOf } : { ...rest, ...only }
}

/** Only what the contract shows: without what is marked, without webhooks, and with errors of any form. */
export function contractOnly(document: OpenApiDocument): OpenApiDocument {
  const { webhooks: _, ...rest } = unmarked(document) as OpenApiDocument
  const paths = mapOperations(rest.paths, (operation) => ({
    ...operation,
    responses: {
      ...(operation['responses'] as Json),
      default: { description: 'An error. The contract shows none.' },
    },
  }))
  const text = JSON.stringify(paths)
  const all = schemasOf(rest)
  const used = new Set<string>()
  const use = (part: string) => {
    for (const [, name = ''] of part.matchAll(/"#\/components\/schemas\/(\w+)"/g))
      if (!used.has(name)) {
        used.add(name)
        use(JSON.stringify(all[name]))
      }
  }
  use(text)
  const schemas = Object.entries(all).filter(([name]) => used.has(name))
  return withSchemas({ ...rest, paths }, Object.fromEntries(schemas))
}
