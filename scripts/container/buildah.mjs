// Builds the Dockerfile with buildah, which needs no background engine, and unpacks the image.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIVE, run } from './process.mjs'

const IMAGE = 'payout-sandbox'
// The base image created here has another digest than the original.
const withoutDigest = (text) => text.replaceAll(/@sha256:[0-9a-f]{64}/g, '')

/**
 * Sets up buildah with its own storage in `work`, and imports the folder `base` as the image `name`. Tries each storage
 * driver. Returns only `reasons` if none can run a program.
 */
export function openBuildah({ base, name, env, work }) {
  const reasons = []
  for (const storage of ['overlay', 'vfs']) {
    const own = ['root', 'runroot'].flatMap((one) => [`--${one}`, join(work, storage, one)])
    const buildah = (args, options) =>
      run('buildah', [...own, '--storage-driver', storage, ...args], options)
    try {
      const container = buildah(['from', 'scratch']).trim()
      buildah(['add', '--quiet', container, base, '/'])
      buildah(['config', ...env.flatMap((pair) => ['--env', pair]), container])
      buildah(['run', '--isolation', 'chroot', container, 'node', '--version'])
      buildah(['commit', '--quiet', '--rm', '--format', 'docker', container, withoutDigest(name)])
      return { buildah, storage }
    } catch (error) {
      reasons.push(`${storage}: ${error.message.trim().split('\n').at(-1)}`)
    }
  }
  return { reasons }
}

/** Builds the Dockerfile of `context`. Returns the root folder and the config of the image. */
export function buildWithBuildah({ buildah, text, context, work }) {
  const file = join(work, 'Dockerfile')
  // Old versions of buildah don't know this flag of Docker 25.
  writeFileSync(file, withoutDigest(text).replace(/--start-interval=\S+ /, ''))
  const build = ['build', '--isolation', 'chroot', '--format', 'docker', '--pull-never']
  buildah([...build, '-f', file, '-t', IMAGE, context], LIVE)
  const out = join(work, 'image')
  buildah(['push', '--quiet', '--disable-compression', IMAGE, `dir:${out}`])
  const read = (file) => JSON.parse(readFileSync(join(out, file), 'utf8'))
  const blob = ({ digest }) => digest.replace('sha256:', '')
  const { config, layers } = read('manifest.json')
  const root = join(work, 'root')
  mkdirSync(root)
  for (const layer of layers) run('tar', ['-xpf', join(out, blob(layer)), '-C', root])
  return { root, config: read(blob(config)).config }
}
