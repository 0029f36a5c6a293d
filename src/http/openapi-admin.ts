import { ADMIN_TAGS, type AdminCall } from './admin-call.ts'
import { documentOf, type OpenApiDocument, type RouteSchema } from './openapi.ts'
import { ADMIN_REQUESTS } from './openapi-requests.ts'

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
export const CLIENT_SERVER = {
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
