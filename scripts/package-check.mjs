// Checks the package as a user gets it: packs it, installs it into an empty folder without a network, runs it, imports it and
// type-checks it; then looks at its third-party code, and installs it from a git address. Needs a build with types.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, temporaryFolder } from './run.mjs'

const MAX_PACKAGES = 80
const home = temporaryFolder('package')
const read = (path) => JSON.parse(readFileSync(path, 'utf8'))

function check(problem, what) {
  if (problem) process.exitCode = 1
  console.log(problem ? `FAILED ${what}: ${problem}` : `ok     ${what}`)
}

/** Runs a line of a shell in the user's folder. Returns what it printed to stdout; a line that fails is a failed check. */
function sh(what, line, cwd = home) {
  const { status, stdout, stderr, error } = spawnSync('bash', ['-euc', line], {
    cwd,
    encoding: 'utf8',
    timeout: 300_000,
    maxBuffer: 64 << 20,
    env: { ...process.env, root, home, npm_config_audit: 'false', npm_config_fund: 'false' },
  })
  check(status !== 0 && `${error?.message ?? status}\n${stdout}${stderr}`, what)
  return stdout
}

const PROGRAM = `
const sandbox = await startSandbox({ clock: 'frozen' })
const response = await fetch(sandbox.url + '/users')
const { now } = await sandbox.admin.clock.advance('1m')
await sandbox.close()
if (response.status !== 200 || now !== '2026-01-01T00:01:00.000Z') throw new Error(now)
`
const TYPED = `
export async function use(): Promise<string> {
  const sandbox: RunningSandbox = await startSandbox({ clock: 'frozen' })
  const { now } = await sandbox.admin.clock.advance('1m')
  // @ts-expect-error: the types are not any.
  const wrong: number = now
  // @ts-expect-error: an unknown option.
  await startSandbox({ colour: 1 })
  return now
}
`
const IMPORT = "import { startSandbox, type RunningSandbox } from 'payout-sandbox'\n"
const FILES = {
  'package.json': '{ "name": "user", "private": true }',
  'pages.mjs': `for (const url of [process.env.PAYOUT_SANDBOX_URL + '/users', process.env.PAYOUT_SANDBOX_ADMIN_URL, process.env.PAYOUT_SANDBOX_ADMIN_URL.replace('__admin', 'docs')]) {
  const { status } = await fetch(url)
  if (status !== 200) throw new Error(url + ': ' + status)
}`,
  'run.mjs': `import { startSandbox } from 'payout-sandbox'\n${PROGRAM}`,
  'run.cjs': `const { startSandbox } = require('payout-sandbox')\nvoid (async () => {${PROGRAM}})()\n`,
  'typed.mts': `${IMPORT}${TYPED}`,
  'typed.ts': `${IMPORT}${TYPED}`,
  'typed.cts': `import sandbox = require('payout-sandbox')\nconst { startSandbox } = sandbox\ntype RunningSandbox = sandbox.RunningSandbox\n${TYPED}`,
}

function checkBill() {
  const { components } = read(join(root, 'dist/sbom.cdx.json'))
  const refs = new Set(components.map((one) => one['bom-ref']))
  check(refs.size > MAX_PACKAGES && refs.size, `it contains at most ${MAX_PACKAGES} packages`)
  const shipped = Object.entries(read(join(root, 'package-lock.json')).packages).filter(
    ([path, { version }]) => refs.has(`${path.replace(/.*node_modules\//, '')}@${version}`),
  )
  const bad = shipped.filter(([, one]) => one.deprecated || one.hasInstallScript)
  check(bad.map(([path]) => path).join(), 'none is deprecated or has an install script')
  const words = ['audit', '--package-lock-only', '--json', '--fetch-retries=0']
  const audit = spawnSync('npm', words, { cwd: root, encoding: 'utf8' })
  const { vulnerabilities } = JSON.parse(audit.stdout || '{}')
  if (vulnerabilities === undefined) return console.log('       npm audit was skipped: no response')
  const paths = new Set(shipped.map(([path]) => path))
  const found = Object.values(vulnerabilities).filter(({ nodes }) =>
    nodes.some((at) => paths.has(at)),
  )
  check(
    found.map(({ name, severity }) => `${name} (${severity})`).join(),
    'npm audit finds nothing in them',
  )
}

for (const [name, text] of Object.entries(FILES)) writeFileSync(join(home, name), text)
sh('it packs', 'cd "$root" && npm pack --silent --pack-destination "$home"')
sh('it installs without a network', 'npm install --offline ./payout-sandbox-*.tgz')
sh('it has no script', 'tar -xzOf *.tgz package/package.json | (! grep \'"scripts"\')')
sh('and installs no other package', '[ "$(ls node_modules)" = payout-sandbox ]')
sh('npx payout-sandbox --help', 'npx --offline payout-sandbox --help | grep start')
sh(
  'it serves the API, the console and the docs',
  'npx --offline payout-sandbox exec -- node pages.mjs',
)
sh('an ES module imports it', 'node run.mjs')
sh('a CommonJS module requires it', 'node run.cjs')
const tsc = 'node "$root/node_modules/typescript/bin/tsc" --noEmit --strict --target es2022'
sh('types for an ES module, module nodenext', `${tsc} --module nodenext typed.mts`)
sh('types for a bundler', `${tsc} --module esnext --moduleResolution bundler typed.ts`)
for (const module of ['node16', 'nodenext'])
  sh(`types for CommonJS, module ${module}`, `${tsc} --module ${module} typed.cts`)
const first = 'cd node_modules/payout-sandbox/examples'
sh(
  'its example first-payout runs where it lies',
  `${first}/first-payout && npm install --offline && npm test`,
)
sh('its example for a shell runs where it lies', `${first}/ci && bash shell.sh`)
checkBill()
// A repository of its own, so that it does not matter who owns this one.
const git = 'git --git-dir "$home/repository/.git" --work-tree "$root"'
const author = '-c user.name=check -c user.email=check@example.com'
sh(
  'its files are committed',
  `git init -q "$home/repository"; cd "$root"; ${git} add -A; ${git} ${author} commit -qm 'The files that are here'`,
)
const other = join(home, 'from-git')
mkdirSync(other)
const { version } = read(join(root, 'package.json'))
const install = 'npm install --prefer-offline "git+file://$home/repository"'
sh('it installs from a git address', `echo "{}" > package.json && ${install}`, other)
sh('and npx runs it', `[ "$(npx --offline payout-sandbox --version)" = ${version} ]`, other)
sh('and it has its types', 'ls node_modules/payout-sandbox/dist/types/index.d.ts', other)
