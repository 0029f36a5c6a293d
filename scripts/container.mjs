// npm run container: builds the Dockerfile without a container engine, starts the result, and checks it against the docs.
// Needs root, mmdebstrap, iproute2, and either buildah and crun or permission to mount; --way chroot does not use buildah.
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

const fail = (why) => {
  console.error(`npm run container: ${why}`)
  process.exit(2)
}
if (!['buildah', 'chroot'].includes(values.way))
  fail(`--way takes buildah or chroot, not ${values.way}`)

/** Runs this script in new mount and process namespaces, and removes its files afterwards. */
function runtime() {
  if (process.getuid?.() !== 0) fail('run it as root: it creates root file systems and mounts')
  const work = mkdtempSync(join(tmpdir(), 'payout-sandbox-container-'))
  const namespaces = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child']
  const child = spawn(
    'unshare',
    [...namespaces, process.execPath, SELF, '--inside', work, '--way', values.way],
    { stdio: 'inherit' },
  )
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill('SIGKILL'))
  child.on('error', (error) => fail(error.message))
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

/** Checks the image's config against our own parser, so that both ways read the Dockerfile in the same way. */
function checkConfig(found, expected) {
  for (const [key, value] of Object.entries(expected)) {
    const same = key === 'Healthcheck' ? { Test: found.Healthcheck?.Test } : found[key]
    if (!isDeepStrictEqual(same, value))
      throw new Error(
        `${key} of the image: expected ${JSON.stringify(value)}, found ${JSON.stringify(same)}`,
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
  return { way: 'a chroot', ...buildInChroot(options) }
}

function inside(work) {
  // crun does not support a machine with both cgroup versions.
  spawnSync('umount', ['--quiet', '/sys/fs/cgroup/unified'])
  // In memory, because the script writes about 2 GB and a disk doubles its time.
  if (freemem() > 6e9) run('mount', ['-t', 'tmpfs', '-o', 'size=4g', 'tmpfs', work])
  const text = readFileSync(join(context, 'Dockerfile'), 'utf8')
  const stages = readDockerfile(text)
  const stageNames = new Set(stages.map(({ name }) => name))
  const [name, other] = new Set(
    stages.map(({ base }) => base).filter((base) => !stageNames.has(base)),
  )
  if (other !== undefined)
    fail(`the Dockerfile has two base images, ${name} and ${other}; only one is supported`)

  const base = timed(`Making ${name}`, () => makeBase(name, work))
  const options = { text, context, base: base.root, name, env: BASE_ENV, work }
  const { way, root, config } = timed('Building the Dockerfile', () => build(options))
  checkConfig(config, configOf(stages.at(-1), BASE_ENV))
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

if (values.inside === undefined) runtime()
else inside(values.inside)
