// Starts the image and checks it against the docs. Its argument is the work folder of container.mjs. Runs in its own
// network namespace, without any other network.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { run } from './process.mjs'
import { openRuntime } from './runtime.mjs'

const HEALTHY_MS = 2_000
const STOPPED_MS = 5_000
const USER = '00000000-0000-4000-8000-000000000001'

const work = process.argv[2]
const { root, config } = JSON.parse(readFileSync(join(work, 'image.json'), 'utf8'))
const fixtures = join(dirname(fileURLToPath(import.meta.url)), '../../fixtures')
let failed = 0

function check(ok, what, found) {
  if (!ok) failed++
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${what}${found === undefined ? '' : `: ${found}`}`)
}

// The content of the image.

const filesUnder = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
const isBinary = (file) => readFileSync(file).subarray(0, 4).toString('latin1') === '\x7fELF'
const app = filesUnder(join(root, 'app'))
const binaries = app.filter((file) => file.endsWith('.node') || isBinary(file))
check(
  binaries.length === 0,
  'no binary is in /app',
  `${app.length} files, of them ${binaries.length}`,
)
const cache = app.find((file) => file.endsWith('.cache'))
check(
  cache?.includes(`.${run('chroot', [root, 'node', '--version']).trim()}-${process.arch}.`) ??
    false,
  'the code cache fits the Node version and the architecture of the image',
  cache?.slice(root.length),
)
for (const name of ['LICENSE', 'dist/THIRD-PARTY-LICENSES.txt', 'dist/sbom.cdx.json'])
  check(existsSync(join(root, 'app', name)), `/app/${name} exists`)

// The behaviour of the image.

const port = Object.keys(config.ExposedPorts)[0].split('/')[0]
const origin = `http://127.0.0.1:${port}`
const status = (pid, name) =>
  new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]
const request = async (path, options) => {
  const response = await fetch(`${origin}${path}`, options)
  return { code: response.status, body: await response.json() }
}

/** The time until the health check responds with 200, ms; waits at most 10 s. */
async function healthyAfter(since) {
  while (Date.now() - since < 10_000) {
    const ok = await fetch(`${origin}/__admin/health`).then(
      (response) => response.ok,
      () => false,
    )
    if (ok) return Date.now() - since
    await wait(5)
  }
  return Number.POSITIVE_INFINITY
}

async function stop(sandbox) {
  const since = Date.now()
  process.kill(sandbox.pid, config.StopSignal)
  const code = await Promise.race([sandbox.ended, wait(2 * STOPPED_MS, 'none', { ref: false })])
  const took = Date.now() - since
  check(
    code === 0 && took <= STOPPED_MS,
    `${config.StopSignal} stops it`,
    `exit code ${code}, ${took} ms`,
  )
  if (code === 'none') process.kill(sandbox.pid, 'SIGKILL')
}

const runtime = openRuntime({ root, config, work })
console.log(`started by ${runtime.name}`)
const began = Date.now()
const sandbox = await runtime.start()
try {
  const took = await healthyAfter(began)
  check(took <= HEALTHY_MS, `healthy within ${HEALTHY_MS} ms`, `${took} ms`)
  const [, ...health] = config.Healthcheck.Test
  const result = sandbox.exec(config.User, health)
  check(result.status === 0, 'HEALTHCHECK exits 0', result.output)

  check(Number(status(sandbox.pid, 'Uid')) > 0, 'its user is not root', config.User)
  check(/^0+$/.test(status(sandbox.pid, 'CapEff')), 'it has no capability')
  const folders = ['/', '/app', '/app/dist', '/etc', '/usr/local/bin', '/tmp']
  const rejected = [config.User, 'root'].flatMap((user) =>
    folders.filter((folder) => {
      const { status: code, output } = sandbox.exec(user, ['touch', join(folder, 'written')])
      return code !== 0 && output.includes('Read-only file system')
    }),
  )
  check(
    rejected.length === 2 * folders.length,
    'its root file system is read-only, also for root',
    `${rejected.length} of ${2 * folders.length} writes rejected`,
  )

  const users = JSON.parse(readFileSync(join(fixtures, 'users.json'), 'utf8'))
  const { email } = users.find(({ user_id }) => user_id === USER)
  const read = await request(`/v1/user/${USER}`)
  check(read.code === 200 && read.body.data.email === email, 'it responds with the fixtures', email)
  const created = await request('/v1/user', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"kept@example.com","mobile":"9812345678"}',
  })
  check(created.code === 201, 'it creates a user', created.body.data?.user_id)
  const unknown = await request('/__admin/clock')
  check(unknown.code === 401, 'its admin API requires a token', unknown.code)
  await stop(sandbox)

  const again = await runtime.start()
  await healthyAfter(Date.now())
  const stored = await request(`/v1/user/${created.body.data.user_id}`)
  check(
    stored.code === 200,
    'a new container on the same volume has the user',
    stored.body.data?.email,
  )
  await stop(again)
} catch (error) {
  console.log(sandbox.output())
  throw error
}
const changed = run('find', [root, '-newer', join(work, 'image.json'), '-type', 'f'])
check(changed === '', 'no file of the image was changed', changed.trim() || undefined)
if (failed > 0) console.log(sandbox.output())
process.exitCode = failed > 0 ? 1 : 0
