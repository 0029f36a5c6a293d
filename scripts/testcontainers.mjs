// npm run testcontainers: checks examples/testcontainers as far as this is possible without a container engine; its README
// says how far that is. Leaves out a language without tools. Needs the types of a build.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installTools } from './tools.mjs'
import { TSC } from './tsc.mjs'

const MAX_MS = 120_000
const root = fileURLToPath(new URL('..', import.meta.url))
const examples = join(root, 'examples/testcontainers')
const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-testcontainers-'))
const filesOf = (name) =>
  readdirSync(join(examples, name)).map((file) => join(examples, name, file))

const LANGUAGES = {
  node: {
    version: [process.execPath, '--version'],
    check: [process.execPath, ...TSC, '-p', 'scripts/testcontainers'],
  },
  java: {
    version: ['javac', '--version'],
    // Its library is not here, so the compiler stops after it has parsed.
    check: ['javac', '-XDshould-stop.ifNoError=PARSE', '-d', folder, ...filesOf('java')],
  },
  python: {
    version: ['python3', '--version'],
    check: [
      'python3',
      '-c',
      'import ast,sys\nfor f in sys.argv[1:]: ast.parse(open(f).read(), f)',
      ...filesOf('python'),
    ],
  },
  go: {
    version: ['go', 'version'],
    check: [
      'sh',
      '-c',
      'found=$(gofmt -d "$@") && test -z "$found" || { echo "$found"; exit 1; }',
      'gofmt',
      ...filesOf('go'),
    ],
  },
}

const run = ([program, ...args]) =>
  spawnSync(program, args, { cwd: root, encoding: 'utf8', timeout: MAX_MS })

const failure = await installTools('scripts/testcontainers')
try {
  for (const [name, { version, check }] of Object.entries(LANGUAGES)) {
    const missing = name === 'node' ? failure : run(version).status !== 0 && `no ${version[0]}`
    if (missing) {
      console.log(`left out ${name}: ${missing}`)
      continue
    }
    const { status, stdout, stderr } = run(check)
    console.log(status === 0 ? `ok      ${name}` : `FAILED  ${name}\n${stdout}${stderr}`)
    if (status !== 0) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
