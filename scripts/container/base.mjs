// Makes the image that the Dockerfile starts from: no registry of images is asked, and no engine. Same Debian, same
// version of Node, same npm, same user as the one of that name; the machine's package sources and npm settings.
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from './process.mjs'

/** The environment that an image of Node starts with. */
export const BASE_ENV = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']

// Node brings npm 11 since version 24; the packages of Node's binary do not.
const NPM = 'npm@11'
const NOT_IN_SLIM = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*']

/** What a base's name asks for. */
function wanted(name) {
  const [, node, suite] = /^node:([\d.]+)-(\w+)-slim(?:@sha256:[0-9a-f]{64})?$/.exec(name) ?? []
  if (node === undefined)
    throw new Error(`FROM ${name}: only node:VERSION-SUITE-slim can be made here`)
  return { node, suite }
}

/** The machine's package sources, as lines of a sources.list; apt tells only of those whose lists it has. */
function sources() {
  const format = 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)'
  const told = () =>
    run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']).trim()
  if (told() === '') run('apt-get', ['update', '-qq'])
  return told().split('\n')
}

/** Those of a suite and its updates. */
function sourcesOf(suite) {
  const suites = [suite, `${suite}-updates`, `${suite}-security`]
  return sources().filter((line) => suites.includes(line.split(' ')[2]))
}

/** The suite to use: that of the name, or where the machine has no sources of it the machine's own. */
function suiteFor(suite) {
  if (sourcesOf(suite).length > 0) return suite
  const own = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  if (own === undefined || sourcesOf(own).length === 0)
    throw new Error(`the machine has no package sources of ${suite}`)
  console.log(`  the machine has no package sources of ${suite}; ${own} stands in for it`)
  return own
}

/** npm's settings that the machine needs to reach its registry; no secret is among them. */
function npmSettings(root) {
  const get = (name) => run('npm', ['config', 'get', name]).trim()
  const given = (value) => value !== '' && value !== 'null' && value !== 'undefined'
  const lines = ['registry', 'https-proxy', 'noproxy'].flatMap((name) => {
    const value = get(name)
    return given(value) ? [`${name}=${value}`] : []
  })
  const certificates = [get('cafile'), process.env.NODE_EXTRA_CA_CERTS ?? ''].find(given)
  if (certificates !== undefined) {
    copyFileSync(certificates, join(root, 'etc/certificates.crt'))
    lines.push('cafile=/etc/certificates.crt')
  }
  return `${lines.join('\n')}\n`
}

/** Makes the base of a name as a folder in `work`; takes about a minute. */
export function makeBase(name, work) {
  const { node, suite } = wanted(name)
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
  // Not by --prefix, which has npm overlook the machine's settings.
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
