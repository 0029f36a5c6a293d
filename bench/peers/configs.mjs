// The config files of Mockoon and mountebank: three routes for users.
import { LISTED, usersOf } from './rows.mjs'

const idOf = (n) => `00000000-0000-4000-8000-00000000000${n}`

/** An environment with one bucket of a hundred rows behind a CRUD route; ids of new rows come from its template. */
export function mockoonOf() {
  const [user] = usersOf(1)
  const row = JSON.stringify({ ...user, id: '{{uuid}}', email: 'stored.{{@index}}@example.com' })
  return {
    uuid: idOf(1),
    lastMigration: 33,
    name: 'users',
    endpointPrefix: '',
    latency: 0,
    port: 0,
    hostname: '127.0.0.1',
    folders: [],
    routes: [
      {
        uuid: idOf(2),
        type: 'crud',
        documentation: '',
        method: '',
        endpoint: 'users',
        responses: [
          {
            uuid: idOf(3),
            body: '{}',
            latency: 0,
            statusCode: 200,
            label: '',
            headers: [],
            bodyType: 'DATABUCKET',
            filePath: '',
            databucketID: 'rows',
            sendFileAsBody: false,
            rules: [],
            rulesOperator: 'OR',
            disableTemplating: true,
            fallbackTo404: false,
            default: true,
            crudKey: 'id',
            callbacks: [],
          },
        ],
        responseMode: null,
        streamingMode: null,
        streamingInterval: 0,
      },
    ],
    rootChildren: [{ type: 'route', uuid: idOf(2) }],
    proxyMode: false,
    proxyHost: '',
    proxyRemovePrefix: false,
    tlsOptions: {
      enabled: false,
      type: 'CERT',
      pfxPath: '',
      certPath: '',
      keyPath: '',
      caPath: '',
      passphrase: '',
    },
    cors: false,
    headers: [{ key: 'Content-Type', value: 'application/json' }],
    proxyReqHeaders: [],
    proxyResHeaders: [],
    data: [
      {
        uuid: idOf(4),
        id: 'rows',
        name: 'rows',
        documentation: '',
        value: `[{{#repeat 100}}${row}{{/repeat}}]`,
      },
    ],
    callbacks: [],
  }
}

/** One imposter with fixed responses. By default it closes the connection after each one. */
export function mountebankOf(users, port) {
  const stub = (method, path, statusCode, value) => {
    const body = JSON.stringify(value)
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      Connection: 'Keep-Alive',
    }
    return {
      predicates: [{ equals: { method, path } }],
      responses: [{ is: { statusCode, headers, body } }],
    }
  }
  const stubs = [
    stub('GET', `/users/${users[0].id}`, 200, users[0]),
    stub('GET', '/users', 200, users.slice(0, LISTED)),
    stub('POST', '/users', 201, users[0]),
  ]
  return { imposters: [{ protocol: 'http', host: '127.0.0.1', port, stubs }] }
}
