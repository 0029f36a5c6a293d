// Checks the package as a user gets it: packs it, installs it into an empty folder without a network, runs it, imports it,
// type-checks it, and checks its third-party code; then installs it from a git address. Needs a build; `npm run package` does both.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installPackage } from './install-package.mjs'
import { TSC } from './tsc.mjs'

const MAX_PACKAGES = 60
const MAX_MS = 30_000
const MAX_GIT_MS = 300_000
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
const home = mkdtempSync(join(tmpdir(), 'payout-sandbox-package-'))
const installed = join(home, 'node_modules/payout-sandbox')
let failed = 0

function check(ok, what, found) {
  if (!ok) failed++
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${what}${ok || found === undefined ? '' : `: ${found}`}`)
}

/** Runs a program in the user's folder. Returns its exit code and output. */
function run(command, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: home,
    encoding: 'utf8',
    timeout: MAX_MS,
    maxBuffer: 64 << 20,
    ...options,
  })
  return { status, stdout, output: `${stdout}${stderr}`.trim() }
}

function install() {
  const { size, unpackedSize } = installPackage(home)
  check(existsSync(installed), 'it installs into an empty folder, without a network')
  const folders = readdirSync(join(home, 'node_modules')).filter((name) => !name.startsWith('.'))
  check(folders.join() === 'payout-sandbox', 'and installs no other package', folders)
  const mega = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`
  console.log(`       ${mega(size)} to download, ${mega(unpackedSize)} on disk`)
}

function checkManifest() {
  const manifest = read(join(installed, 'package.json'))
  const kinds = Object.keys(manifest).filter((key) => /^(?!dev).*dependencies$/i.test(key))
  check(kinds.length === 0, 'it has no dependencies', kinds)
  const scripts = Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$/.test(name))
  check(scripts.length === 0, 'it has no install script', scripts)
}

/** The relative links of a page. */
const linksOf = (page) =>
  [...readFileSync(page, 'utf8').matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
    .map(([, path]) => path)
    .filter((path) => !/^\w+:/.test(path))

function checkLinks() {
  const pages = readdirSync(installed, { recursive: true }).filter((name) => name.endsWith('.md'))
  const links = pages.flatMap((page) => linksOf(join(installed, page)).map((path) => [page, path]))
  const broken = links.filter(([page, path]) => !existsSync(join(installed, dirname(page), path)))
  check(
    pages.length >= 10 && links.length >= 40 && broken.length === 0,
    `the ${links.length} links of its ${pages.length} pages lead to files in it`,
    broken.map(([page, path]) => `${page} -> ${path}`).join(', '),
  )
}

async function checkCommand() {
  const help = run('npx', ['--offline', 'payout-sandbox', '--help'])
  check(
    help.status === 0 && help.stdout.includes('start'),
    'npx payout-sandbox --help',
    help.output,
  )

  const words = ['--offline', 'payout-sandbox', 'start', '--port', '0', '--json', '--memory']
  const npx = spawn('npx', words, { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(npx, 'exit')
  const timer = setTimeout(() => npx.kill('SIGKILL'), MAX_MS)
  const lines = createInterface({ input: npx.stdout })
  const line = await Promise.race([
    once(lines, 'line').then(([text]) => text),
    exit.then(() => '{}'),
  ])
  const { url, console_url, docs_url, pid } = JSON.parse(line)
  for (const [what, asked] of Object.entries({
    'npx payout-sandbox start --port 0 responds': `${url}/users`,
    'it serves the console': console_url,
    'it serves the API as a page': docs_url,
  })) {
    const status = await fetch(asked).then(
      (response) => response.status,
      (error) => error.message,
    )
    check(status === 200, what, `${asked}: ${status}`)
  }
  if (pid !== undefined) process.kill(pid, 'SIGTERM')
  const [code] = await exit
  clearTimeout(timer)
  check(code === 0, 'a signal stops it', code)
}

const PROGRAM = `
const sandbox = await startSandbox({ clock: 'frozen' })
const response = await fetch(sandbox.url + '/users')
const { now } = await sandbox.admin.clock.advance('1m')
await sandbox.close()
if (response.status !== 200 || now !== '2026-01-01T00:01:00.000Z') throw new Error(now)
`
const TYPED = `
async function use(): Promise<string> {
  const sandbox: RunningSandbox = await startSandbox({ clock: 'frozen' })
  const { now } = await sandbox.admin.clock.advance('1m')
  // @ts-expect-error: the types are not any.
  const wrong: number = now
  // @ts-expect-error: an unknown option.
  await startSandbox({ colour: 1 })
  return now
}
export { use }
`

function checkExamples() {
  const examples = join(installed, 'examples')
  const first = join(examples, 'first-payout')
  const quietly = ['--offline', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = run('npm', ['install', ...quietly], { cwd: first })
  const tests = npm.status === 0 ? run('npm', ['test'], { cwd: first }) : npm
  check(tests.status === 0, 'its example first-payout runs where it lies', tests.output)
  const shell = run('bash', [join(examples, 'ci/shell.sh')])
  check(shell.status === 0, 'its example for a shell runs where it lies', shell.output)
}

function checkImports() {
  const required = `const { startSandbox } = require('payout-sandbox')\nvoid (async () => {${PROGRAM}})()\n`
  writeFileSync(join(home, 'run.mjs'), `import { startSandbox } from 'payout-sandbox'\n${PROGRAM}`)
  writeFileSync(join(home, 'run.cjs'), required)
  for (const [what, file] of [
    ['an ES module imports it', 'run.mjs'],
    ['a CommonJS module requires it', 'run.cjs'],
  ]) {
    const { status, output } = run(process.execPath, [file])
    check(status === 0, what, output)
  }
}

function checkTypes() {
  const imported = `import { type RunningSandbox, startSandbox } from 'payout-sandbox'\n${TYPED}`
  const required = `import sandbox = require('payout-sandbox')\nconst { startSandbox } = sandbox\ntype RunningSandbox = sandbox.RunningSandbox\n${TYPED}`
  writeFileSync(join(home, 'typed.mts'), imported)
  writeFileSync(join(home, 'typed.ts'), imported)
  writeFileSync(join(home, 'typed.cts'), required)
  const nodenext = ['--module', 'nodenext']
  for (const [what, file, options] of [
    ['types for an ES module, module nodenext', 'typed.mts', nodenext],
    ['types for a bundler', 'typed.ts', ['--module', 'esnext', '--moduleResolution', 'bundler']],
    ['types for CommonJS, module nodenext', 'typed.cts', nodenext],
  ]) {
    // Without the types of Node, and without skipLibCheck.
    const strictly = ['--noEmit', '--strict', '--target', 'es2022']
    const { status, output } = run(process.execPath, [...TSC, ...strictly, ...options, file])
    check(status === 0, what, output)
  }
}

function checkBill() {
  const { components } = read(join(installed, 'dist/sbom.cdx.json'))
  const licences = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
  check(
    components.length > 0 && components.length <= MAX_PACKAGES,
    `the bill of materials has ${components.length} packages, at most ${MAX_PACKAGES}`,
  )
  const unlicensed = components.filter(
    ({ 'bom-ref': ref, licenses }) =>
      !licences.includes(`\n${ref} (${licenses[0].license.id})\n\n`),
  )
  check(
    unlicensed.length === 0,
    'each one has its licence text',
    unlicensed.map((one) => one['bom-ref']),
  )

  // Compare with npm's own bill of materials. Only Swagger UI is missing there, because it is inside another package.
  const sbom = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only']
  const theirs = JSON.parse(run('npm', sbom, { cwd: root }).stdout).components
  const same = (one, other) =>
    ['purl', 'licenses', 'hashes'].every(
      (key) => JSON.stringify(one[key]) === JSON.stringify(other[key]),
    )
  const unknown = components
    .filter((one) => !theirs.some((other) => same(one, other)))
    .map(({ name }) => name)
  check(unknown.join() === 'swagger-ui-dist', 'each one is equal in npm sbom', unknown)

  const lock = Object.entries(read(join(root, 'package-lock.json')).packages)
  const shipped = lock.filter(([folder, { version }]) =>
    components.some(
      (one) => folder.endsWith(`node_modules/${one.name}`) && one.version === version,
    ),
  )
  for (const [what, key] of [
    ['none is deprecated', 'deprecated'],
    ['none has an install script', 'hasInstallScript'],
  ]) {
    const found = shipped.filter(([, entry]) => key in entry).map(([folder]) => folder)
    check(shipped.length >= components.length - 1 && found.length === 0, what, found)
  }
  checkAudit(new Set(shipped.map(([folder]) => folder)))
}

function checkAudit(shipped) {
  const quickly = ['--fetch-retries=0', '--fetch-timeout=10000']
  const { stdout } = run('npm', ['audit', '--package-lock-only', '--json', ...quickly], {
    cwd: root,
  })
  const { vulnerabilities, message } = JSON.parse(stdout || '{}')
  if (vulnerabilities === undefined) {
    console.log(`       npm audit was skipped: ${message ?? 'no response'}`)
    return
  }
  const found = Object.values(vulnerabilities).filter(({ nodes }) =>
    nodes.some((at) => shipped.has(at)),
  )
  const names = found.map(({ name, severity }) => `${name} (${severity})`)
  check(found.length === 0, 'npm audit finds nothing in them', names.join(', '))
}

/** Commits the files that are here into a repository of its own, so that it does not matter who owns this one. */
function commitFiles(repository) {
  const inRepository = ['--git-dir', join(repository, '.git'), '--work-tree', root]
  const author = ['-c', 'user.name=package-check', '-c', 'user.email=package-check@example.com']
  return [
    ['init', '--quiet', repository],
    [...inRepository, 'add', '--all'],
    [...inRepository, ...author, 'commit', '--quiet', '--message', 'The files that are here'],
  ].every((words) => run('git', words, { cwd: root }).status === 0)
}

/** Installs it from a git address: npm clones it, installs what it needs, and runs its script `prepare`. */
function checkGitInstall() {
  const repository = join(home, 'repository')
  if (!commitFiles(repository)) {
    console.log('       the install from a git address was skipped: there is no git here')
    return
  }
  const user = join(home, 'from-git')
  mkdirSync(user)
  writeFileSync(join(user, 'package.json'), '{ "name": "user", "private": true }')
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  const address = `git+${pathToFileURL(repository)}`
  const options = { cwd: user, timeout: MAX_GIT_MS }
  const npm = run('npm', ['install', ...quietly, address], options)
  check(npm.status === 0, 'it installs from a git address', npm.output)
  const version = run('npx', ['--offline', 'payout-sandbox', '--version'], { cwd: user })
  check(
    version.stdout.trim() === read(join(root, 'package.json')).version,
    'and npx runs it',
    version.output,
  )
  const types = join(user, 'node_modules/payout-sandbox/dist/types/index.d.ts')
  check(existsSync(types), 'and it has its types')
}

try {
  install()
  checkManifest()
  checkLinks()
  await checkCommand()
  checkExamples()
  checkImports()
  checkTypes()
  checkBill()
  checkGitInstall()
} finally {
  rmSync(home, { recursive: true, force: true })
}
process.exitCode = failed > 0 ? 1 : 0
