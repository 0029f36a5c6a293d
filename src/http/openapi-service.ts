import type { TokenUse } from '../assumptions/requests.ts'
import { shippedFixtures } from '../content/shipped-fixtures.ts'
import { createLibrary, withInline } from '../scenarios/library.ts'
import type { OperationId } from '../scenarios/operations-and-events.ts'
import { openSandbox } from '../world/sandbox.ts'
import type { Input, Operation } from './endpoint.ts'
import { documentOf, errorContent, type OpenApiDocument, type RouteSchema } from './openapi.ts'
import { contractOnly, markOwn } from './openapi-contract.ts'
import { SERVICE_REQUESTS } from './openapi-requests.ts'
import type { Components, Json, ResponseForm } from './openapi-schema.ts'
import { webhooksOf } from './openapi-webhooks.ts'

const IDEMPOTENCY_KEY = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description:
    'Ignored, unless the sandbox was started with `--assume idempotency_key=honoured`: then the same request with the same key gets the stored response for 24 hours.',
}

const REPLAYED = {
  description:
    'The response is the stored response of an earlier request with the same Idempotency-Key.',
  type: 'string',
  const: 'true',
}

// biome-ignore lint/suspicious/noExplicitAny: each operation has a body of its own.
type Examples = Record<OperationId, any>

/** Runs the example requests on the shipped fixtures, and returns their responses; each call finds the rows of those before. */
async function exampleResponses(operations: readonly Operation[]): Promise<Examples> {
  const log = { info() {}, warn() {}, error() {} }
  const sandbox = await openSandbox({
    fixtures: await shippedFixtures(),
    // The operations are called directly, so no scenario decides.
    library: withInline(createLibrary(new Map()), 'default', { rules: [] }),
    start: { randomSeed: 1, clock: 'frozen', clockSpeed: 1, scenario: 'default', assume: {} },
    runLate: () => false,
    maxClients: 100,
    autoClients: false,
    webhooks: { allow: [], time: 'wall', retries: 'fast' },
    unref: true,
    log,
  })
  const world = sandbox.default
  const respond = ({ id, query, body, check, handle }: Operation) => {
    const sent = SERVICE_REQUESTS[id] ?? {}
    const input = {
      params: sent.params,
      query: query?.parse({ limit: '2' }),
      body: body?.parse(sent.body),
    } as unknown as Input
    return world.tables.change(() => handle(world, input, {}, check?.(world, input)))
  }
  const examples = Object.fromEntries(operations.map((op) => [op.id, respond(op)]))
  await sandbox.close()
  return JSON.parse(JSON.stringify(examples))
}

const resourcesOf = (examples: Examples): Json => ({
  User: examples.getUser.data,
  KycRecord: examples.submitKyc.data[0].data,
  BankAccount: examples.listBankAccounts.data[0],
  Transaction: examples.getTransaction.data[0],
  HistoryRecord: examples.listTransactionHistory.data.transactions[0],
  ClientProfile: examples.getClientProfile.data,
  Webhook: examples.getWebhook.data,
})

const TAGS: Readonly<Record<string, string>> = {
  Users: 'The payers and the receivers of payments.',
  KYC: 'Documents of a user and the results of their verification.',
  'Bank accounts': 'Accounts of a user, verified when they are added.',
  Transactions: 'Payments from user to user.',
  'Transaction history': 'The same payments as flat payout records.',
  Client: 'The integrating business account.',
  Webhook: 'The URL to which the client’s events are sent.',
}

/** Adds the example response, other statuses, and the parts of an idempotent operation. */
function amend(
  schema: RouteSchema,
  { method, status }: Operation,
  components: Components,
  example: unknown,
) {
  const success = schema.response[status]!
  success.content['application/json']!['example'] = example
  schema.response['default'] = {
    description: 'A scenario can respond with any status.',
    content: errorContent(components, 'injected_error'),
  }
  if (method !== 'POST') return
  schema.headers = { type: 'object', properties: { 'Idempotency-Key': IDEMPOTENCY_KEY } }
  // An error is not stored.
  success.headers = { 'Idempotency-Replayed': REPLAYED }
}

const DESCRIPTION =
  'A local sandbox of a payout and user-account service. Every number in it is made up; it moves no money. A path responds to a method that it does not support with 405 and `Allow`. In a body, null for an optional field is as if the field were left out. A call with a new client name in its base path (`/@name/v1`) gets 409 `client_limit_reached` if the maximum number of clients exists already.'

/** Which document of the service: what this sandbox accepts and the contract allows, its own responses exactly, or the contract alone. */
export type DocumentForm = 'default' | 'strict' | 'contract'

const DESCRIPTION_OF: Readonly<Record<DocumentForm, string>> = {
  default:
    'This document describes what the sandbox accepts, and all responses that the contract of the service allows. What the contract does not show has `x-sandbox-assumption`; `/openapi.json?contract` leaves it out: make a client for the live service from that one.',
  strict:
    'This document describes the responses of this sandbox exactly. A client made from it may reject a response of the live service: make it from `/openapi.json?contract`.',
  contract: 'This document describes only what the contract of the service shows.',
}

type IsRequired = TokenUse['isRequired']

// An empty requirement makes the token optional.
const securityOf = ({ tokenNeeded }: Operation, isRequired: IsRequired) =>
  isRequired(tokenNeeded) ? [{ accessToken: [] }] : [{ accessToken: [] }, {}]

/** An OpenAPI document of the service, with tokens as the contract requires them. */
export async function serviceDocument(
  operations: readonly Operation[],
  form: DocumentForm = 'default',
): Promise<OpenApiDocument> {
  const responseForm: ResponseForm = form === 'strict' ? 'response' : 'contract'
  const examples = await exampleResponses(operations)
  const document = await documentOf(operations, {
    title: 'Payout and user-account service (sandbox)',
    description: `${DESCRIPTION} ${DESCRIPTION_OF[form]}`,
    servers: [{ url: '/v1', description: 'This sandbox.' }],
    tags: TAGS,
    securitySchemes: {
      accessToken: {
        type: 'http',
        scheme: 'bearer',
        description: 'A token of the fixtures, such as `sbx_test_token`.',
      },
    },
    securityOf: (op) => securityOf(op, (byContract) => byContract),
    requests: SERVICE_REQUESTS,
    responseForm,
    amend: (schema, op, components) => amend(schema, op, components, examples[op.id]),
    examples: resourcesOf(examples),
    webhooks: ({ ref }) => webhooksOf((schema) => ref(schema, 'response')),
  })
  const marked = markOwn(document)
  return form === 'contract' ? contractOnly(marked) : marked
}

/** A copy of the document for a client: its readings decide which calls require a token, and it may have its own `token`. */
export function withTokens(
  document: OpenApiDocument,
  operations: readonly Operation[],
  isRequired: IsRequired,
  token: string | undefined,
): OpenApiDocument {
  const { paths, ...rest } = structuredClone(document)
  const { securitySchemes } = rest['components'] as Record<string, Record<string, Json>>
  if (token !== undefined) securitySchemes!['accessToken']!['description'] = `Use ${token}.`
  for (const op of operations) {
    const path = paths[op.url.replace(/:(\w+)/g, '{$1}')]!
    path[op.method.toLowerCase()]!['security'] = securityOf(op, isRequired)
  }
  return { ...rest, paths }
}
