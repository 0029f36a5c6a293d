// Creates the base image of the Dockerfile without an image registry and a container engine. It has the same Debian, Node,
// npm and user as the original image, and uses the machine's package sources and npm settings.
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from './process.mjs'

/** The environment of the Node image. */
export const BASE_ENV = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']

// Node 24 and later include npm 11, but the npm packages of the Node binary do not.
const NPM = 'npm@11'
const NOT_IN_SLIM = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*']

/** Parses the name of a base image. */
function parseBaseName(name) {
  const [, node, suite] = /^node:([\d.]+)-(\w+)-slim(?:@sha256:[0-9a-f]{64})?$/.exec(name) ?? []
  if (node === undefined)
    throw new Error(`FROM ${name}: only node:VERSION-SUITE-slim is supported here`)
  return { node, suite }
}

/** The machine's package sources, as lines of a sources.list. apt lists only sources that it has updated. */
function sources() {
  const format = 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)'
  const readSources = () =>
    run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']).trim()
  if (readSources() === '') run('apt-get', ['update', '-qq'])
  return readSources().split('\n')
}

/** The package sources of a suite and its updates. */
function sourcesOf(suite) {
  const suites = [suite, `${suite}-updates`, `${suite}-security`]
  return sources().filter((line) => suites.includes(line.split(' ')[2]))
}

/** The suite to use: the given one, or the machine's own suite if the machine has no sources of the given one. */
function suiteFor(suite) {
  if (sourcesOf(suite).length > 0) return suite
  const own = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  if (own === undefined || sourcesOf(own).length === 0)
    throw new Error(`the machine has no package sources of ${suite}`)
  console.log(`  the machine has no package sources of ${suite}; using ${own} instead`)
  return own
}

/** The npm settings of the machine for its registry, without secrets. */
function npmSettings(root) {
  const get = (name) => run('npm', ['config', 'get', name]).trim()
  const isSet = (value) => value !== '' && value !== 'null' && value !== 'undefined'
  const lines = ['registry', 'https-proxy', 'noproxy'].flatMap((name) => {
    const value = get(name)
    return isSet(value) ? [`${name}=${value}`] : []
  })
  const certificates = [get('cafile'), process.env.NODE_EXTRA_CA_CERTS ?? ''].find(isSet)
  if (certificates !== undefined) {
    copyFileSync(certificates, join(root, 'etc/certificates.crt'))
    lines.push('cafile=/etc/certificates.crt')
  }
  return `${lines.join('\n')}\n`
}

/** Creates the base image as a folder in `work`. Takes about a minute. */
export function makeBase(name, work) {
  const { node, suite } = parseBaseName(name)
  const root = join(work, 'base')
  const packages = join(work, 'packages')
  const debian = suiteFor(suite)
  run(
    'mmdebstrap',
    [
      '--quiet',
      '--variant=minbase',
      '--dpkgopt=force-unsafe-io',
      ...NOT_IN_SLIM.map((path) => `--dpkgopt=path-exclude=${path}`),
      debian,
      root,
      '-',
    ],
    { input: `${sourcesOf(debian).join('\n')}\n` },
  )
  // The binary's own package, of this machine's architecture, runs no install script.
  const binary = `node-linux-${process.arch}`
  mkdirSync(packages)
  writeFileSync(join(packages, 'package.json'), '{}')
  const quietly = ['--ignore-scripts', '--no-save', '--no-package-lock', '--no-audit']
  // Without --prefix, because npm then ignores the machine's settings.
  run('npm', ['install', ...quietly, `${binary}@${node}`, NPM], { cwd: packages })
  const local = join(root, 'usr/local')
  copyFileSync(join(packages, 'node_modules', binary, 'bin/node'), join(local, 'bin/node'))
  cpSync(join(packages, 'node_modules/npm'), join(local, 'lib/node_modules/npm'), {
    recursive: true,
  })
  for (const tool of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${tool}-cli.js`, join(local, 'bin', tool))
  const settings = join(local, 'etc/npmrc')
  mkdirSync(dirname(settings), { recursive: true })
  writeFileSync(settings, npmSettings(root))
  run('chroot', [root, 'groupadd', '--gid', '1000', 'node'])
  run('chroot', [root, 'useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node'])
  return { root, node: run('chroot', [root, 'node', '--version']).trim() }
}
