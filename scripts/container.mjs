// npm run container: builds the Dockerfile without a container engine, starts the result, and holds it to the docs.
// Needs root, mmdebstrap, iproute2, and buildah and crun or at least the right to mount; --way chroot leaves buildah out.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { BASE_ENV, makeBase } from './container/base.mjs'
import { buildWithBuildah, openBuildah } from './container/buildah.mjs'
import { buildInChroot, configOf, readDockerfile } from './container/dockerfile.mjs'
import { LIVE, run } from './container/process.mjs'

const SELF = fileURLToPath(import.meta.url)
const context = join(dirname(SELF), '..')
const { values } = parseArgs({
  options: { way: { type: 'string', default: 'buildah' }, inside: { type: 'string' } },
})

const refuse = (why) => {
  console.error(`npm run container: ${why}`)
  process.exit(2)
}
if (!['buildah', 'chroot'].includes(values.way))
  refuse(`--way is buildah or chroot; found ${values.way}`)

/** Runs itself where mounts and processes are its own, and takes away what it made. */
function outside() {
  if (process.getuid?.() !== 0) refuse('run it as root: it makes root file systems and mounts')
  const work = mkdtempSync(join(tmpdir(), 'payout-sandbox-container-'))
  const namespaces = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child']
  const child = spawn(
    'unshare',
    [...namespaces, process.execPath, SELF, '--inside', work, '--way', values.way],
    { stdio: 'inherit' },
  )
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill('SIGKILL'))
  child.on('error', (error) => refuse(error.message))
  child.on('exit', (code) => {
    rmSync(work, { recursive: true, force: true })
    process.exitCode = code ?? 1
  })
}

function timed(what, act) {
  console.log(what)
  const began = Date.now()
  const result = act()
  console.log(`  ${((Date.now() - began) / 1_000).toFixed(1)} s`)
  return result
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`
const bytesOf = (folder) => Number(run('du', ['-sb', folder]).split('\t')[0])
const gzipped = (folder) => Number(run('sh', ['-c', 'tar -C "$0" -c . | gzip | wc -c', folder]))

/** The two ways must not read the Dockerfile differently. */
function holdConfig(found, wanted) {
  for (const [key, value] of Object.entries(wanted)) {
    const same = key === 'Healthcheck' ? { Test: found.Healthcheck?.Test } : found[key]
    if (!isDeepStrictEqual(same, value))
      throw new Error(
        `${key} of the image: wanted ${JSON.stringify(value)}, found ${JSON.stringify(same)}`,
      )
  }
}

function build(options) {
  if (values.way === 'buildah') {
    const { buildah, storage, reasons } = openBuildah(options)
    if (buildah !== undefined)
      return { way: `buildah (${storage})`, ...buildWithBuildah({ ...options, buildah }) }
    console.log(`  buildah does not run here: ${reasons.join('; ')}`)
  }
  return { way: 'its steps in a chroot', ...buildInChroot(options) }
}

function inside(work) {
  // crun takes no machine that has the old and the new form of control groups side by side.
  spawnSync('umount', ['--quiet', '/sys/fs/cgroup/unified'])
  // A disk makes it take twice as long; some 2 GB are written.
  if (freemem() > 6e9) run('mount', ['-t', 'tmpfs', '-o', 'size=4g', 'tmpfs', work])
  const text = readFileSync(join(context, 'Dockerfile'), 'utf8')
  const stages = readDockerfile(text)
  const made = new Set(stages.map(({ name }) => name))
  const [name, other] = new Set(stages.map(({ base }) => base).filter((base) => !made.has(base)))
  if (other !== undefined) refuse(`the Dockerfile has two bases, ${name} and ${other}`)

  const base = timed(`Making ${name}`, () => makeBase(name, work))
  const options = { text, context, base: base.root, name, env: BASE_ENV, work }
  const { way, root, config } = timed('Building the Dockerfile', () => build(options))
  holdConfig(config, configOf(stages.at(-1), BASE_ENV))
  writeFileSync(join(work, 'image.json'), JSON.stringify({ root, config }))
  console.log(`Built by ${way} for ${process.arch}, with Node ${base.node}`)
  for (const [what, folder] of [
    ['what the Dockerfile adds', join(root, 'app')],
    ['with the base made here', root],
  ])
    console.log(
      `  ${megabytes(bytesOf(folder))}, ${megabytes(gzipped(folder))} compressed: ${what}`,
    )

  console.log('Starting it')
  const check = join(dirname(SELF), 'container/check.mjs')
  const words = ['ip link set lo up && exec "$0" "$@"', process.execPath, check, work]
  const { status } = spawnSync('unshare', ['--net', 'sh', '-c', ...words], LIVE)
  process.exitCode = status ?? 1
}

if (values.inside === undefined) outside()
else inside(values.inside)
