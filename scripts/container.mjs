// npm run container: builds the Dockerfile with buildah over a stand-in for its base image, made from the machine's package
// sources, starts the image with crun as docs/container.md says, and checks what that page promises. Needs root.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { root, run, temporaryFolder } from './run.mjs'

const HEALTHY_MS = 2_000
const STOPPED_MS = 5_000
const USER = '00000000-0000-4000-8000-000000000001'
const live = { stdio: ['ignore', 'inherit', 'inherit'] }

// ---- the image

/** Builds the Dockerfile. Returns the folder and the config of the image. */
function buildImage(work) {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const [from, version, suite] = /node:([\d.]+)-(\w+)-slim/.exec(text)
  const folders = ['--root', join(work, 'root'), '--runroot', join(work, 'run')]
  const store = [...folders, '--storage-driver', 'vfs']
  const buildah = (args, options) => run('buildah', [...store, ...args], options)
  const base = buildah(['from', 'scratch'])
  run(join(root, 'scripts/container-base.sh'), [version, suite], { ...live, cwd: work })
  buildah(['add', '--quiet', base, join(work, 'base'), '/'])
  const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  buildah(['config', '--env', path, base])
  buildah(['commit', '--quiet', '--rm', '--format', 'docker', base, from])
  const file = join(work, 'Dockerfile')
  // The stand-in has another digest, and some versions of buildah don't know this flag of Docker 25.
  writeFileSync(
    file,
    text.replaceAll(/@sha256:[0-9a-f]{64}/g, '').replace(/--start-interval=\S+ /, ''),
  )
  const how = '--isolation chroot --format docker --pull-never -t sandbox'.split(' ')
  run('buildah', [...store, 'build', ...how, '-f', file, root], live)
  const image = buildah(['from', '--pull-never', 'sandbox'])
  const { Docker } = JSON.parse(buildah(['inspect', image]))
  return { folder: buildah(['mount', image]), config: Docker.config }
}

// ---- the container

let failed = 0
function check(ok, what, found = '') {
  if (!ok) failed++
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${what}${found === '' ? '' : `: ${found}`}`)
}

/** Writes what crun reads: the image, read-only, as its user, without capabilities, on the caller's network. */
function writeSpec(bundle, volume, { folder, config }) {
  mkdirSync(bundle)
  run('crun', ['spec'], { cwd: bundle })
  const file = join(bundle, 'config.json')
  const spec = JSON.parse(readFileSync(file, 'utf8'))
  spec.root = { path: folder, readonly: true }
  Object.assign(spec.process, { terminal: false, user: { uid: 1000, gid: 1000 }, capabilities: {} })
  Object.assign(spec.process, { noNewPrivileges: true, env: config.Env, cwd: config.WorkingDir })
  spec.process.args = [...config.Entrypoint, ...config.Cmd]
  const types = ['pid', 'mount', 'ipc', 'uts']
  Object.assign(spec.linux, { resources: {}, namespaces: types.map((type) => ({ type })) })
  spec.mounts = spec.mounts.filter(
    ({ destination }) => destination !== '/sys' && !destination.startsWith('/sys/'),
  )
  const [destination] = Object.keys(config.Volumes)
  spec.mounts.push({ destination, type: 'bind', source: volume, options: ['bind', 'rw'] })
  writeFileSync(file, JSON.stringify(spec))
}

const origin = 'http://127.0.0.1:4310'
const request = async (path, options) => {
  const response = await fetch(`${origin}${path}`, options)
  return { code: response.status, body: await response.json() }
}

/** Starts the container, and waits until it is healthy. */
async function start(crun, bundle) {
  const began = Date.now()
  const child = spawn('crun', [...crun, 'run', '--bundle', bundle, 'sandbox'], live)
  const ended = once(child, 'exit')
  const isHealthy = () =>
    request('/__admin/health').then(
      ({ code }) => code === 200,
      () => false,
    )
  while (child.exitCode === null && Date.now() - began < 10_000 && !(await isHealthy()))
    await wait(5)
  return {
    ms: Date.now() - began,
    async stop() {
      const since = Date.now()
      run('crun', [...crun, 'kill', 'sandbox', 'SIGTERM'])
      const [code] = await Promise.race([ended, wait(2 * STOPPED_MS, ['none'], { ref: false })])
      const took = Date.now() - since
      check(code === 0 && took <= STOPPED_MS, 'SIGTERM stops it', `exit code ${code}, ${took} ms`)
      if (code === 'none') run('crun', [...crun, 'kill', 'sandbox', 'SIGKILL'])
    },
  }
}

async function checkImage(work) {
  const { folder, config } = JSON.parse(readFileSync(join(work, 'image.json'), 'utf8'))
  const node = run('chroot', [folder, 'node', '--version'])
  const needed = [
    'LICENSE',
    'dist/THIRD-PARTY-LICENSES.txt',
    'dist/sbom.cdx.json',
    `dist/payout-sandbox.cjs.${node}-${process.arch}.cache`,
  ]
  for (const name of needed) check(existsSync(join(folder, 'app', name)), `/app/${name} is there`)
  const volume = join(work, 'volume')
  // As a container engine does: with the owner of the image's folder.
  run('cp', ['-a', join(folder, Object.keys(config.Volumes)[0]), volume])
  const bundle = join(work, 'bundle')
  writeSpec(bundle, volume, { folder, config })
  const crun = ['--root', join(work, 'crun'), '--cgroup-manager', 'disabled']
  const exec = (user, ...words) =>
    spawnSync('crun', [...crun, 'exec', '--user', user, 'sandbox', ...words], { encoding: 'utf8' })

  const sandbox = await start(crun, bundle)
  check(sandbox.ms <= HEALTHY_MS, `healthy within ${HEALTHY_MS} ms`, `${sandbox.ms} ms`)
  check(config.User === 'node', 'its user is not root')
  check(exec('1000:1000', ...config.Healthcheck.Test.slice(1)).status === 0, 'HEALTHCHECK exits 0')
  const capabilities = exec('1000:1000', 'grep', 'CapEff', '/proc/1/status').stdout
  check(/^CapEff:\s+0+$/.test(capabilities.trim()), 'it has no capability', capabilities.trim())
  for (const path of ['/', '/app/dist', '/etc', '/tmp']) {
    const { stderr } = exec('0:0', 'touch', join(path, 'written'))
    check(/Read-only file system/.test(stderr), `${path} is read-only, also for root`)
  }
  const read = await request(`/v1/user/${USER}`)
  check(read.code === 200, 'it responds with the fixtures', read.body.data?.email)
  const headers = { 'content-type': 'application/json' }
  const body = '{"email":"kept@example.com","mobile":"9812345678"}'
  const created = await request('/v1/user', { method: 'POST', headers, body })
  check(created.code === 201, 'it creates a user', created.body.data?.user_id)
  check((await request('/__admin/clock')).code === 401, 'its admin API requires a token')
  await sandbox.stop()
  const again = await start(crun, bundle)
  const stored = await request(`/v1/user/${created.body.data.user_id}`)
  check(
    stored.code === 200,
    'a new container on the same volume has the user',
    stored.body.data?.email,
  )
  await again.stop()
  const newer = ['-newer', join(work, 'image.json'), '-type', 'f']
  const changed = run('find', [join(folder, 'app'), ...newer])
  check(changed === '', 'no file of the image was changed', changed)
  process.exitCode = failed > 0 ? 1 : 0
}

if (process.argv[2] === '--check') await checkImage(process.argv[3])
else {
  const work = temporaryFolder('container')
  writeFileSync(join(work, 'image.json'), JSON.stringify(buildImage(work)))
  // A network of its own, without any other. crun does not support a machine with both cgroup versions.
  const script = 'umount -q /sys/fs/cgroup/unified; ip link set lo up && exec "$0" "$@"'
  const words = [script, process.execPath, import.meta.filename, '--check', work]
  const { status } = spawnSync('unshare', ['--net', '--mount', 'sh', '-c', ...words], live)
  process.exitCode = status ?? 1
}
