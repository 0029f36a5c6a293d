// npm run languages: runs the example of each client in clients/ with a sandbox of its own, then with that of `payout-sandbox
// exec`, under the scenario go-live, and in a sweep of what concerns money. Fails if an example fails or a client has too many lines. Leaves out a language without tools.
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { root, temporaryFolder } from './run.mjs'

const MAX_LINES = 300
const NODE = process.execPath
const MAX_MS = 300_000
// Their tests of webhooks want each event once and in order.
const SWEEP = '--clock=frozen --only=money --except=webhook --points=first --max-time=1m'.split(' ')
const clients = join(root, 'clients')
const bin = join(root, 'dist/bin.cjs')
const folder = temporaryFolder('languages')

// The jars of Debian's junit5, or the same ones in another folder.
const JARS = process.env.JUNIT_JARS ?? '/usr/share/java'
const classPath = [
  ...['', '-api', '-engine', '-params'].map((part) => `junit-jupiter${part}`),
  ...['commons', 'console', 'engine', 'launcher', 'reporting'].map(
    (part) => `junit-platform-${part}`,
  ),
  ...['opentest4j', 'opentest4j-reporting-events', 'opentest4j-reporting-schema'],
  ...['apiguardian-api', 'picocli', 'univocity-parsers'],
].map((jar) => join(JARS, `${jar}.jar`))

const runs = (...words) => spawnSync(words[0], words.slice(1), { timeout: MAX_MS }).status === 0
const javaFiles = ['java', 'java/example'].flatMap((name) =>
  readdirSync(join(clients, name))
    .filter((file) => file.endsWith('.java'))
    .map((file) => join(clients, name, file)),
)
const python = ['python3', '/usr/bin/python3'].find((one) => runs(one, '-m', 'pytest', '--version'))

/** The files of the Testcontainers example, of which only the syntax is checked. */
const filesOf = (name) => {
  const path = join(root, 'examples/testcontainers', name)
  return readdirSync(path).map((file) => join(path, file))
}

/** Each language: its client files, what it needs, how it is prepared, and how its example runs. */
const LANGUAGES = {
  python: {
    files: ['python/payout_sandbox.py'],
    missing: !python && 'python3 with pytest (Debian: python3-pytest)',
    cwd: 'python/example',
    env: { PYTHONPATH: '..', PYTHONPYCACHEPREFIX: folder },
    prepare: [[python, '-m', 'py_compile', ...filesOf('python')]],
    test: [python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider'],
  },
  java: {
    files: ['java/PayoutSandbox.java', 'java/PayoutSandboxExtension.java'],
    missing:
      !(runs('javac', '--version') && classPath.every((jar) => existsSync(jar))) &&
      `a JDK and JUnit 5 in ${JARS} (Debian: default-jdk-headless junit5)`,
    cwd: 'java',
    prepare: [
      // Without its library, the compiler stops after it has parsed.
      ['javac', '-XDshould-stop.ifNoError=PARSE', '-d', folder, ...filesOf('java')],
      ['javac', '-Werror', '-cp', classPath.join(delimiter), '-d', folder, ...javaFiles],
    ],
    test: [
      ...['java', '-cp', [folder, ...classPath].join(delimiter)],
      ...['org.junit.platform.console.ConsoleLauncher', '--disable-banner'],
      ...['--fail-if-no-tests', '--scan-classpath', folder],
    ],
  },
  go: {
    files: ['go/payoutsandbox.go'],
    missing: !runs('go', 'version') && 'go (Debian: golang-go)',
    cwd: 'go',
    env: { GOPROXY: 'off', GOTOOLCHAIN: 'local' },
    prepare: [
      ['go', 'vet', './...'],
      ['sh', '-c', 'gofmt -d "$@"; test -z "$(gofmt -l "$@")"', 'sh', '.', ...filesOf('go')],
    ],
    test: ['go', 'test', '-count=1', './...'],
  },
  php: {
    files: ['php/PayoutSandbox.php'],
    missing: !runs('php', '--version') && 'php (Debian: php-cli)',
    cwd: 'php/example',
    prepare: [],
    test: ['php', 'test.php'],
  },
  shell: {
    files: ['any-language.sh'],
    missing: !runs('curl', '--version') && 'curl',
    cwd: '.',
    prepare: [],
    onlyInExec: true,
    test: ['sh', 'any-language.sh'],
  },
}

function environment(more) {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  for (const name of Object.keys(env)) if (name.startsWith('PAYOUT_SANDBOX_')) delete env[name]
  // Python and curl would send calls of this machine to a proxy.
  return { ...env, no_proxy: '127.0.0.1', PAYOUT_SANDBOX_BIN: bin, ...more }
}

/** Returns the output of the first command that fails, or undefined. */
async function firstFailure({ cwd, env, prepare, test, onlyInExec }) {
  const exec = (...more) => [NODE, bin, 'exec', '--clock=frozen', ...more, '--', ...test]
  const sweep = [NODE, bin, 'sweep', ...SWEEP, '--', ...test]
  const runs = [...(onlyInExec ? [] : [test]), exec(), exec('--scenario=go-live'), sweep]
  const options = { cwd: join(clients, cwd), env: environment(env), timeout: MAX_MS }
  try {
    for (const [command, ...args] of [...prepare, ...runs])
      await promisify(execFile)(command, args, { ...options, maxBuffer: 64 << 20 })
  } catch ({ message, stdout, stderr }) {
    return `${message}\n${stdout}${stderr}`
  }
}

async function check([name, language]) {
  for (const file of language.files) {
    const path = join(clients, file)
    const lines = readFileSync(path, 'utf8').split('\n').length - 1
    if (lines <= MAX_LINES) continue
    process.exitCode = 1
    console.error(`${relative(root, path)}: ${lines} lines; a client has at most ${MAX_LINES}`)
  }
  if (language.missing) return console.log(`skipped ${name}: it needs ${language.missing}`)
  const start = performance.now()
  const failure = await firstFailure(language)
  const time = `${((performance.now() - start) / 1000).toFixed(1)} s`
  console.log(`${failure === undefined ? 'ok     ' : 'FAILED '} ${name} ${time}`)
  if (failure === undefined) return
  process.exitCode = 1
  console.error(failure)
}

// At once, because a sweep waits more than it works.
await Promise.all(Object.entries(LANGUAGES).map(check))
