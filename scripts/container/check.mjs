// Starts the image and holds it to what the docs say of it; takes the folder that container.mjs works in. Runs in a
// network of its own, which has nothing but itself.
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

// What the image is.

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
  'the code cache is of the Node and the architecture that run it',
  cache?.slice(root.length),
)
for (const name of ['LICENSE', 'dist/THIRD-PARTY-LICENSES.txt', 'dist/sbom.cdx.json'])
  check(existsSync(join(root, 'app', name)), `/app/${name} is there`)

// What it does.

const port = Object.keys(config.ExposedPorts)[0].split('/')[0]
const origin = `http://127.0.0.1:${port}`
const status = (pid, name) =>
  new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]
const answer = async (path, options) => {
  const response = await fetch(`${origin}${path}`, options)
  return { code: response.status, body: await response.json() }
}

/** How long it took until the health answer was 200; at most 10 s are waited. */
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
  const told = sandbox.exec(config.User, health)
  check(told.status === 0, 'HEALTHCHECK exits 0', told.output)

  check(Number(status(sandbox.pid, 'Uid')) > 0, 'its user is not root', config.User)
  check(/^0+$/.test(status(sandbox.pid, 'CapEff')), 'it has no capability')
  const places = ['/', '/app', '/app/dist', '/etc', '/usr/local/bin', '/tmp']
  const refused = [config.User, 'root'].flatMap((user) =>
    places.filter((place) => {
      const { status: code, output } = sandbox.exec(user, ['touch', join(place, 'written')])
      return code !== 0 && output.includes('Read-only file system')
    }),
  )
  check(
    refused.length === 2 * places.length,
    'its root file system is read-only, to root too',
    `${refused.length} of ${2 * places.length} writes refused`,
  )

  const users = JSON.parse(readFileSync(join(fixtures, 'users.json'), 'utf8'))
  const { email } = users.find(({ user_id }) => user_id === USER)
  const read = await answer(`/v1/user/${USER}`)
  check(read.code === 200 && read.body.data.email === email, 'it answers with the fixtures', email)
  const created = await answer('/v1/user', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"kept@example.com","mobile":"9812345678"}',
  })
  check(created.code === 201, 'it takes a new user', created.body.data?.user_id)
  const unknown = await answer('/__admin/clock')
  check(unknown.code === 401, 'its admin API wants a token', unknown.code)
  await stop(sandbox)

  const again = await runtime.start()
  await healthyAfter(Date.now())
  const kept = await answer(`/v1/user/${created.body.data.user_id}`)
  check(kept.code === 200, 'a new container on the same volume has it', kept.body.data?.email)
  await stop(again)
} catch (error) {
  console.log(sandbox.output())
  throw error
}
const changed = run('find', [root, '-newer', join(work, 'image.json'), '-type', 'f'])
check(changed === '', 'no file of the image was changed', changed.trim() || undefined)
if (failed > 0) console.log(sandbox.output())
process.exitCode = failed > 0 ? 1 : 0
