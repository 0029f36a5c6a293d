import { VERSION } from '../config/version.ts'
import { type AdminCall, errorsOf } from './admin.ts'
import {
  type Components,
  createComponents,
  errorResponses,
  type Json,
  parametersOf,
  pathOf,
} from './openapi.ts'
import { ADMIN_REQUESTS } from './openapi-requests.ts'

/** The tag of a call, by the first segment of its path. */
const TAG_OF: Readonly<Record<string, keyof typeof TAGS>> = {
  health: 'Health',
  ready: 'Health',
  clock: 'Time',
  timers: 'Time',
  reset: 'State',
  client: 'State',
  users: 'State',
  transactions: 'State',
  clients: 'State',
  state: 'State',
  snapshots: 'State',
  scenario: 'Scenarios',
  scenarios: 'Scenarios',
  rules: 'Scenarios',
  'magic-values': 'Scenarios',
  simulate: 'Scenarios',
  webhooks: 'Webhooks',
  requests: 'Requests',
  wait: 'Requests',
  events: 'Requests',
  record: 'Requests',
}
const TAGS = {
  Health: 'Whether the process is running and ready.',
  Time: 'The clock of a client and its pending timers.',
  State: 'Clients and their data: create, fork, reset, export, import, snapshot, restore.',
  Scenarios: 'Scenarios and rules, which decide how the service responds to a client.',
  Webhooks: 'Deliveries to the client’s webhook, and the messages of the built-in receiver.',
  Requests: 'The request log of a client, the stream of events, and waiting for an event.',
}

function tagOf({ id, url }: AdminCall): keyof typeof TAGS {
  const tag = TAG_OF[url.split('/')[1]!]
  if (!tag) throw new Error(`The admin call ${id} has no tag: give ${url} one in openapi-admin.ts`)
  return tag
}

const upper = (id: string) => id[0]!.toUpperCase() + id.slice(1)

function bodyOf({ id, body, raw }: AdminCall, { requestBody }: Components): Json {
  const example = ADMIN_REQUESTS[id]
  if (raw) return { requestBody: { content: { '*/*': { schema: {}, example: example?.body } } } }
  return body ? { requestBody: requestBody(body, `${upper(id)}Body`, example) } : {}
}

// A token or the base path chooses the client; the admin token is needed only if one is set.
const SECURITY = [{}, { adminToken: [] }, { accessToken: [] }, { adminToken: [], accessToken: [] }]

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description:
    'The id of the last event that the reader has received. The stream starts with the events after it.',
  schema: { type: 'string' },
}

function operationOf(call: AdminCall, components: Components): Json {
  const { id, summary, params, query, response, open, raw, stream, status = 200 } = call
  const content = components.json(response, 'output', `${upper(id)}Answer`)
  return {
    operationId: id,
    tags: [tagOf(call)],
    summary,
    security: open || raw ? [] : SECURITY,
    parameters: [
      ...parametersOf(params, 'path', ADMIN_REQUESTS[id]),
      ...parametersOf(query, 'query'),
      ...(stream ? [LAST_EVENT_ID] : []),
    ],
    ...bodyOf(call, components),
    responses: {
      [status]: {
        description: summary,
        content: stream ? { 'text/event-stream': content['application/json'] } : content,
      },
      ...errorResponses(components, errorsOf(call)),
    },
  }
}

/** The OpenAPI 3.1 document of the admin API, generated from its calls and their zod schemas. */
export function adminDocument(calls: readonly AdminCall[]): Json {
  const components = createComponents()
  const paths: Record<string, Json> = {}
  for (const call of calls) {
    const path = pathOf(call.url)
    paths[path] = { ...paths[path], [call.method.toLowerCase()]: operationOf(call, components) }
  }
  const tags = [...new Set(calls.map(tagOf))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'payout-sandbox admin API',
      version: VERSION,
      description: 'Control of a running payout-sandbox: its clock, clients, scenarios, webhooks.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/__admin', description: 'The default client, or the client of the bearer token.' },
      {
        url: '/@{client}/__admin',
        description: 'A client by its name.',
        variables: { client: { default: 'default' } },
      },
    ],
    tags: tags.map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      schemas: components.all(),
      securitySchemes: {
        adminToken: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Admin-Token',
          description: 'The value of --admin-token, or the token that is printed at start.',
        },
        accessToken: { type: 'http', scheme: 'bearer', description: 'A client’s access token.' },
      },
    },
  }
}
