// npm run bench:rivals [-- --quick | --write]: installs four other mock servers into a temporary folder, and measures them and the
// sandbox in one run. --write puts the table into bench/README.md; --quick only shows that all of it runs. Needs a network: the
// exit code is 2 if they could not be installed.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installNode } from '../scripts/nodes.mjs'
import { installPackages, root, temporaryFolder } from '../scripts/run.mjs'
import * as lib from './lib.mjs'

const { quick, publish } = lib.readOptions()
const folder = temporaryFolder('rivals')
const STARTS = quick ? 0 : 7
const BURSTS = quick ? 0 : 5
const SIZES = [100, 10_000]

/** The same users for each server. */
const usersOf = (count) =>
  Array.from({ length: count }, (_, i) => ({
    id: `00000000-0000-4000-8000-${String(i + 1).padStart(12, '0')}`,
    email: `stored.${i + 1}@example.com`,
    mobile: `+9180${String(i + 1).padStart(8, '0')}`,
    created_at: '2026-01-01T00:00:00.000Z',
  }))
const [{ id: ID }] = usersOf(1)

function save(dir, name, value) {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, name), JSON.stringify(value))
  return join(dir, name)
}

const text = { type: 'string' }
const properties = { id: text, email: text, mobile: text, created_at: text }
const user = { type: 'object', properties }
const json = (schema, example) => ({
  description: 'OK',
  content: { 'application/json': { schema, example } },
})
/** For Prism, which responds with examples. */
const openapi = (users) => ({
  openapi: '3.0.3',
  info: { title: 'Users', version: '1' },
  paths: {
    '/users': {
      get: { responses: { 200: json({ type: 'array', items: user }, users.slice(0, 10)) } },
      post: {
        requestBody: { content: { 'application/json': { schema: user } } },
        responses: { 201: json(user, users[0]) },
      },
    },
    '/users/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: text }],
      get: { responses: { 200: json(user, users[0]) } },
    },
  },
})

/** For Mockoon: one bucket of rows behind a CRUD route. */
function mockoon(users) {
  const uuid = (n) => `00000000-0000-4000-8000-00000000000${n}`
  const body = { bodyType: 'DATABUCKET', databucketID: 'rows', body: '{}', crudKey: 'id' }
  const response = {
    uuid: uuid(3),
    statusCode: 200,
    headers: [],
    rules: [],
    callbacks: [],
    ...body,
  }
  const responses = [response]
  return {
    ...{ uuid: uuid(1), lastMigration: 33, name: 'users', port: 0, hostname: '127.0.0.1' },
    ...{
      endpointPrefix: '',
      latency: 0,
      folders: [],
      proxyMode: false,
      cors: false,
      callbacks: [],
    },
    routes: [{ uuid: uuid(2), type: 'crud', endpoint: 'users', method: '', responses }],
    rootChildren: [{ type: 'route', uuid: uuid(2) }],
    headers: [{ key: 'Content-Type', value: 'application/json' }],
    data: [{ uuid: uuid(4), id: 'rows', name: 'rows', value: JSON.stringify(users) }],
  }
}

const bin = (path) => join(folder, 'node_modules', path)
/** `words`: what Node runs. `onlyStarts`: it isn't sent requests. */
const SERVERS = [
  {
    name: 'payout-sandbox',
    keeps: 'on disk',
    read: `/v1/user/${ID}`,
    create: '/v1/user',
    words: (dir, port, users) => [
      join(root, 'dist/bin.cjs'),
      ...['start', '--port', port, '--data', join(dir, 'db.json')],
      '--fixtures',
      save(dir, 'fixtures.json', {
        users: users.map(({ id, ...one }) => ({ user_id: id, ...one })),
      }),
    ],
  },
  {
    name: 'json-server 1.0',
    package: 'json-server@1.0.0-beta.15',
    keeps: 'on disk',
    words(dir, port, users) {
      // In production it reads its folder of static files once; the folder must exist.
      mkdirSync(join(dir, 'public'))
      return [bin('json-server/lib/bin.js'), '--port', port, save(dir, 'db.json', { users })]
    },
  },
  {
    name: 'mockoon',
    package: '@mockoon/cli@9.9.0',
    keeps: 'in memory',
    words: (dir, port, users) => [
      ...[bin('@mockoon/cli/bin/run.js'), 'start', '--hostname', '127.0.0.1', '--port', port],
      ...['--data', save(dir, 'environment.json', mockoon(users))],
      ...['--disable-log-to-file', '--disable-admin-api', '--max-transaction-logs', '1'],
    ],
  },
  {
    name: 'prism',
    package: '@stoplight/prism-cli@5.14.2',
    keeps: 'no',
    words: (dir, port, users) => [
      bin('@stoplight/prism-cli/dist/index.js'),
      ...['mock', save(dir, 'openapi.json', openapi(users)), '--host', '127.0.0.1', '--port', port],
      ...['--verboseLevel', 'silent', '--multiprocess=false', '--cors=false'],
    ],
  },
  {
    name: 'emulate, Stripe',
    package: 'emulate@0.12.2',
    keeps: 'in memory',
    node: '24.21.0',
    read: '/v1/customers?limit=1',
    onlyStarts: true,
    words: (_, port) => [bin('emulate/dist/index.js'), 'start', '--service=stripe', '--port', port],
  },
]

/** The path of the first call, and the requests of the bursts. */
const requestsOf = ({ read = `/users/${ID}`, create = '/users' }) => ({
  read: { path: read },
  create: { ...lib.create, path: create },
})

let runs = 0
async function open(server, size) {
  const dir = join(folder, String(++runs))
  mkdirSync(dir)
  const port = await lib.freePort()
  const node = server.node && installNode(server.node)
  const home = { HOME: dir, XDG_CACHE_HOME: dir, TMPDIR: dir, NODE_ENV: 'production' }
  const how = { node, cwd: dir, others: home }
  const { path } = requestsOf(server).read
  return lib.startServer(server.words(dir, port, usersOf(size)), port, path, how)
}

/** Starts all servers in turn, in reversed order each round; the first round reads the files from disk. */
async function measureStarts(found) {
  for (let round = 0; round <= STARTS; round++)
    for (const server of round % 2 ? SERVERS : SERVERS.slice().reverse()) {
      const started = await open(server, 10)
      const mb = lib.residentMb(started)
      await lib.stop(started, 'SIGKILL')
      if (round > 0 || quick) found.get(server).starts.push({ ms: started.ms, mb })
    }
}

/** Bursts on all servers in turn. A server that is slow gets short ones. */
async function measureRequests(found, size) {
  const running = new Map()
  for (const server of SERVERS)
    if (!server.onlyStarts) running.set(server, await open(server, size))
  for (const what of ['read', 'create'])
    for (let round = 0; round <= BURSTS; round++)
      for (const [server, one] of round % 2 ? running : [...running].reverse()) {
        const request = requestsOf(server)[what]
        const { rate } = await lib.load(one, request, 30)
        const count = Math.min(quick ? 30 : 20_000, Math.max(30, rate / 2))
        const burst = what === 'create' ? Math.min(count, size) : count
        const measured = await lib.load(one, request, Math.round(burst))
        if (round > 0 || quick) found.get(server)[`${what}${size}`].push(measured.rate)
      }
  for (const one of running.values()) await lib.stop(one, 'SIGKILL')
}

try {
  installPackages(
    folder,
    SERVERS.flatMap(({ package: name }) => name ?? []),
  )
  for (const { node } of SERVERS) if (node) installNode(node)
} catch (error) {
  console.error(error.message)
  // CI leaves this step out if the network has no packages.
  process.exit(2)
}
const keys = ['starts', ...SIZES.flatMap((size) => [`read${size}`, `create${size}`])]
const found = new Map(
  SERVERS.map((server) => [server, Object.fromEntries(keys.map((key) => [key, []]))]),
)
await measureStarts(found)
for (const size of SIZES) await measureRequests(found, size)

const shown = (values) =>
  values.length === 0 ? '–' : Number(lib.medianOf(values).toPrecision(3)).toLocaleString('en')
const lines = [...found].map(([server, { starts, ...rates }]) => [
  server.node ? `${server.name}, on Node ${server.node}` : server.name,
  server.keeps,
  shown(starts.map(({ ms }) => ms)),
  shown(starts.map(({ mb }) => mb)),
  ...keys.slice(1).map((key) => shown(rates[key])),
])
const sizes = SIZES.map((size) => size.toLocaleString('en'))
const columns = sizes.flatMap((size) => [`Read at ${size}, /s`, `Create at ${size}, /s`])
publish('rivals', ['Server', 'Keeps rows', 'Start, ms', 'MB at start', ...columns], lines)
