// The measured servers, each with its fastest documented settings and its input.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SUPPORTED_NODES } from '../../scripts/binary/node.mjs'
import { mockoonOf, mountebankOf } from './configs.mjs'
import { descriptionOf, fixtureOf, LISTED } from './rows.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const ownProgram = (name) => join(here, 'programs', name)
const SANDBOX = join(here, '../../dist/bin.cjs')
const PACKAGED = 'node_modules/payout-sandbox/dist/bin.cjs'

function save(folder, name, value) {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(value))
  return file
}

// A program must be in the folder of the packages that it imports.
function copied(installed, name) {
  const file = join(installed, name)
  copyFileSync(ownProgram(name), file)
  return file
}

const sandboxArgs = (bin, { folder, port, users }) => [
  bin,
  'start',
  ...['--port', port],
  ...['--data', join(folder, 'db.json')],
  ...['--fixtures', save(folder, 'fixtures.json', fixtureOf(users))],
]

const complete = (server) => ({
  title: server.name,
  packages: {},
  keeps: 'nothing',
  limit: false,
  slows: false,
  read: '/users/',
  list: '/users',
  create: '/users',
  idsOf: (rows) => rows.map((row) => row.id),
  ...server,
})

/**
 * `keeps`: where a created row is stored. `limit`: not a comparable server, but an upper limit. `packages`: the packages
 * to install. `slows`: a create costs more with each stored row. `fill`: how to add rows that the start cannot load.
 * `args`: the arguments of Node, from the installed packages, an empty folder, a port and the rows.
 */
export const SERVERS = [
  {
    name: 'payout-sandbox',
    keeps: 'disk',
    read: '/v1/user/',
    list: `/v1/users?page=1&limit=${LISTED}`,
    create: '/v1/user',
    idsOf: ({ data }) => data.users.map((user) => user.user_id),
    args: (place) => sandboxArgs(SANDBOX, place),
  },
  {
    name: 'node-http',
    title: 'node:http',
    limit: true,
    keeps: 'memory',
    args: ({ folder, port, users }) => [
      ownProgram('node-http.mjs'),
      port,
      save(folder, 'rows.json', users),
    ],
  },
  {
    name: 'fastify',
    title: 'Fastify, bare',
    limit: true,
    keeps: 'memory',
    args: ({ folder, port, users }) => [
      ownProgram('fastify.mjs'),
      port,
      save(folder, 'rows.json', users),
    ],
  },
  {
    name: 'json-server-0.17',
    title: 'json-server 0.17.4',
    packages: { 'json-server': '0.17.4' },
    keeps: 'disk',
    slows: true,
    list: `/users?_page=1&_limit=${LISTED}`,
    args: ({ installed, folder, port, users }) => [
      join(installed, 'node_modules/json-server/lib/cli/bin.js'),
      ...['--host', '127.0.0.1', '--port', port],
      ...['--quiet', '--no-gzip', '--no-cors'],
      save(folder, 'db.json', { users }),
    ],
  },
  {
    name: 'json-server-1.0',
    title: 'json-server 1.0.0-beta.15',
    packages: { 'json-server': '1.0.0-beta.15' },
    keeps: 'disk',
    slows: true,
    list: `/users?_page=1&_per_page=${LISTED}`,
    idsOf: ({ data }) => data.map((row) => row.id),
    args: ({ installed, folder, port, users }) => {
      // In production it reads its folder of static files once; the folder must exist.
      mkdirSync(join(folder, 'public'), { recursive: true })
      return [
        join(installed, 'node_modules/json-server/lib/bin.js'),
        ...['--host', '127.0.0.1', '--port', port],
        save(folder, 'db.json', { users }),
      ]
    },
  },
  {
    name: 'mockoon',
    title: '@mockoon/cli 9.9.0',
    packages: { '@mockoon/cli': '9.9.0' },
    keeps: 'memory',
    list: `/users?page=1&limit=${LISTED}`,
    // It searches the text of its bucket at each create, so the text is short and one PUT adds the rows.
    fill: { method: 'PUT', path: '/users' },
    args: ({ installed, folder, port }) => [
      join(installed, 'node_modules/@mockoon/cli/bin/run.js'),
      'start',
      ...['--data', save(folder, 'environment.json', mockoonOf())],
      ...['--hostname', '127.0.0.1', '--port', port],
      ...['--disable-log-to-file', '--disable-admin-api', '--max-transaction-logs', '1'],
    ],
  },
  {
    name: 'msw',
    title: 'msw 2.15.0',
    packages: { msw: '2.15.0', '@mswjs/http-middleware': '0.10.3', express: '4.22.3' },
    keeps: 'memory',
    args: ({ installed, folder, port, users }) => [
      copied(installed, 'msw.mjs'),
      port,
      save(folder, 'rows.json', users),
    ],
  },
  {
    name: 'prism',
    title: '@stoplight/prism-cli 5.14.2',
    packages: { '@stoplight/prism-cli': '5.14.2' },
    args: ({ installed, folder, port, users }) => [
      join(installed, 'node_modules/@stoplight/prism-cli/dist/index.js'),
      'mock',
      save(folder, 'openapi.json', descriptionOf(users)),
      ...['--host', '127.0.0.1', '--port', port],
      ...['--verboseLevel', 'silent', '--multiprocess=false', '--cors=false'],
    ],
  },
  {
    name: 'scalar',
    title: '@scalar/mock-server 0.14.4',
    packages: { '@scalar/mock-server': '0.14.4', '@hono/node-server': '1.19.19' },
    args: ({ installed, folder, port, users }) => [
      copied(installed, 'scalar.mjs'),
      port,
      save(folder, 'openapi.json', descriptionOf(users)),
    ],
  },
  {
    name: 'openapi-backend',
    title: 'openapi-backend 5.21.2',
    packages: { 'openapi-backend': '5.21.2', express: '5.3.0' },
    args: ({ installed, folder, port, users }) => [
      copied(installed, 'openapi-backend.mjs'),
      port,
      save(folder, 'openapi.json', descriptionOf(users)),
    ],
  },
  {
    name: 'mockttp',
    title: 'mockttp 4.6.5',
    packages: { mockttp: '4.6.5' },
    args: ({ installed, folder, port, users }) => [
      copied(installed, 'mockttp.mjs'),
      port,
      save(folder, 'rows.json', users),
    ],
  },
  {
    name: 'mountebank',
    title: 'mountebank 2.9.1',
    packages: { mountebank: '2.9.1' },
    args: ({ installed, folder, port, adminPort, users }) => [
      join(installed, 'node_modules/mountebank/bin/mb'),
      'start',
      ...['--configfile', save(folder, 'imposters.json', mountebankOf(users, Number(port)))],
      ...['--noParse', '--nologfile', '--loglevel', 'error'],
      ...['--host', '127.0.0.1', '--port', adminPort],
    ],
  },
].map(complete)

const [sandbox, raw] = SERVERS

/** The servers that are only started, on this Node: the package, the limit, and a rival that needs it. */
export const STARTED = {
  node: SUPPORTED_NODES.at(-1),
  servers: [
    {
      ...sandbox,
      title: 'payout-sandbox, package',
      isPackage: true,
      args: ({ installed, ...place }) => sandboxArgs(join(installed, PACKAGED), place),
    },
    raw,
    complete({
      name: 'emulate',
      title: 'emulate 0.12.2, Stripe',
      packages: { emulate: '0.12.2' },
      keeps: 'memory',
      list: `/v1/customers?limit=${LISTED}`,
      args: ({ installed, port }) => [
        join(installed, 'node_modules/emulate/dist/index.js'),
        'start',
        ...['--service', 'stripe', '--port', port],
      ],
    }),
  ],
}
