import type { TokenUse } from '../assumptions/token.ts'
import { documentOf, type OpenApiOperation } from './openapi.ts'
import type { Json } from './openapi-components.ts'
import examples from './openapi-examples.json' with { type: 'json' }
import { SERVICE_REQUESTS } from './openapi-requests.ts'
import { webhooksOf } from './openapi-webhooks.ts'
import type { Operation } from './operation.ts'

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
function addReplayed(responses: OpenApiOperation['responses']) {
  for (const status of STORED) {
    const response = responses[status]
    if (response)
      response['headers'] = { ...(response['headers'] as Json), 'Idempotency-Replayed': REPLAYED }
  }
}

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

const TAGS: Readonly<Record<string, string>> = {
  Users: 'The payers and the receivers of payments.',
  KYC: 'Documents of a user and the results of their verification.',
  'Bank accounts': 'Accounts of a user, verified when they are added.',
  Transactions: 'Payments from user to user.',
  'Transaction history': 'The same payments as flat payout records.',
  Client: 'The integrating business account.',
  Webhook: 'The URL to which the client’s events are sent.',
}

/** Adds the example response, and the parts of an idempotent operation. A test generates the file of the examples. */
function amend({ parameters, responses }: OpenApiOperation, { id, method, status }: Operation) {
  responses[status]!.content['application/json']!['example'] = (examples as Json)[id]
  if (method !== 'POST') return
  parameters.push(IDEMPOTENCY_KEY)
  addReplayed(responses)
}

/** The OpenAPI document of the service; `isRequired` says which calls require a token. */
export const serviceDocument = (
  operations: readonly Operation[],
  isRequired: TokenUse['isRequired'] = (byContract) => byContract,
): Json =>
  documentOf(operations, {
    title: 'Payout and user-account service (sandbox)',
    description:
      'A local sandbox of a payout and user-account service. Every number in it is made up; it moves no money. A path responds to a method that it does not support with 405 and `Allow`. A call with a new client name in its base path (`/@name/v1`) gets 409 `client_limit_reached` if the maximum number of clients exists already.',
    servers: [{ url: '/v1' }],
    tags: TAGS,
    securitySchemes: {
      accessToken: { type: 'http', scheme: 'bearer', description: 'A token of the fixtures.' },
    },
    // An empty requirement makes the token optional.
    securityOf: (op) =>
      isRequired(op.tokenNeeded) ? [{ accessToken: [] }] : [{ accessToken: [] }, {}],
    requests: SERVICE_REQUESTS,
    amend,
    examples: RESOURCES,
    webhooks: ({ ref }) => webhooksOf((schema) => ref(schema, 'output')),
  })
