// Starts an image's root folder read-only and with its volumes: with crun, as a container engine does, or in a chroot if
// crun is not available. It uses the network of the caller.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { commandAs, idsOf, run } from './process.mjs'

const START_MS = 10_000

/** Polls until `find` returns a value. */
async function pollUntil(find, what) {
  for (const end = Date.now() + START_MS; Date.now() < end; await wait(5)) {
    const found = find()
    if (found) return found
  }
  throw new Error(`no ${what} within ${START_MS / 1_000} s`)
}

/** Creates a folder for each volume, as a container engine does: with the image's content, owners and permissions. */
function makeVolumes({ root, config, work }) {
  mkdirSync(join(work, 'volumes'))
  return Object.keys(config.Volumes).map((path, at) => {
    const folder = join(work, 'volumes', String(at))
    run('cp', ['-a', join(root, path), folder])
    return { path, folder }
  })
}

function byCrun({ root, config, work }, volumes) {
  const bundle = join(work, 'crun')
  mkdirSync(bundle)
  run('crun', ['spec'], { cwd: bundle })
  const file = join(bundle, 'config.json')
  const spec = JSON.parse(readFileSync(file, 'utf8'))
  const { uid, gid } = idsOf(root, config.User)
  const write = (args) => {
    spec.root = { path: root, readonly: true }
    Object.assign(spec.process, { terminal: false, user: { uid, gid }, args })
    Object.assign(spec.process, { env: config.Env, cwd: config.WorkingDir })
    Object.assign(spec.process, { capabilities: {}, noNewPrivileges: true })
    Object.assign(spec.linux, {
      resources: {},
      namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })),
    })
    spec.mounts = spec.mounts.filter(
      ({ destination, options }) =>
        destination !== '/sys/fs/cgroup' && !(options ?? []).includes('bind'),
    )
    for (const { path, folder } of volumes)
      spec.mounts.push({ destination: path, type: 'bind', source: folder, options: ['bind', 'rw'] })
    writeFileSync(file, JSON.stringify(spec))
  }
  const own = ['--root', join(work, 'crun-state'), '--cgroup-manager', 'disabled']
  const pidFile = join(work, 'pid')
  return {
    name: 'crun',
    words(args) {
      write(args)
      rmSync(pidFile, { force: true })
      return ['crun', ...own, 'run', '--bundle', bundle, '--pid-file', pidFile, 'sandbox']
    },
    pid: () => existsSync(pidFile) && Number(readFileSync(pidFile, 'utf8')),
    exec: (_pid, user, args) => {
      const ids = idsOf(root, user)
      return ['crun', ...own, 'exec', '--user', `${ids.uid}:${ids.gid}`, 'sandbox', ...args]
    },
  }
}

function byChroot({ root, config }, volumes) {
  const target = { root, env: config.Env, cwd: config.WorkingDir }
  const mounts = [
    'mount --bind "$0" "$0"',
    'mount -o remount,bind,ro "$0"',
    'mount -t proc proc "$0/proc"',
    ...volumes.map(({ path, folder }) => `mount --bind ${folder} "$0${path}"`),
  ]
  const script = `${mounts.join(' && ')} && exec "$@"`
  return {
    name: 'chroot',
    words: (args) => [
      ...['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, root],
      ...['setpriv', '--no-new-privs', '--bounding-set=+sys_chroot,+setuid,+setgid'],
      ...commandAs({ ...target, user: config.User }, args),
    ],
    // The process with id 1 in the new namespace is the only child of unshare.
    pid: (child) => {
      const [pid] = readFileSync(`/proc/${child}/task/${child}/children`, 'utf8').split(' ')
      return pid !== '' && Number(pid)
    },
    exec: (pid, user, args) => [
      ...['nsenter', `--target=${pid}`, '--mount', '--pid'],
      ...commandAs({ ...target, user }, args),
    ],
  }
}

/**
 * Returns the first runtime that can start a program in the image: crun or chroot. `start()` runs the entry point of the
 * image as its user.
 */
export function openRuntime(image) {
  const volumes = makeVolumes(image)
  const { config } = image
  const ways = [byCrun, byChroot]
  for (const [at, make] of ways.entries()) {
    try {
      const way = make(image, volumes)
      const [program, ...args] = way.words(['node', '--version'])
      run(program, args)
      return { name: way.name, volumes, start: () => start(way, config) }
    } catch (error) {
      if (at === ways.length - 1) throw error
      console.log(`  crun does not run here: ${error.message.trim().split('\n').at(-1)}`)
    }
  }
}

/** Starts the image. Returns its process, its output, and a function that runs further programs in it. */
async function start(way, config) {
  const [program, ...args] = way.words([...config.Entrypoint, ...config.Cmd])
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  const pid = await pollUntil(() => way.pid(child.pid), 'process')
  return {
    pid,
    output: () => output,
    /** Resolves with its exit code. */
    ended: once(child, 'exit').then(([code]) => code),
    /** Runs a further program as a user of the image. Returns its exit code and output. */
    exec(user, words) {
      const [beside, ...rest] = way.exec(pid, user, words)
      const { status, stdout, stderr } = spawnSync(beside, rest, {
        encoding: 'utf8',
        timeout: 20_000,
      })
      return { status, output: `${stdout}${stderr}`.trim() }
    },
  }
}
