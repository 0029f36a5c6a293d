import { spawnSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { conform } from '../../../src/cli/conform.ts'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { ADMIN_CALLS } from '../../../src/routes/admin/admin-calls.ts'
import { optionNames, read } from './files.ts'

const dockerfile = read('Dockerfile')
const PORT = /^EXPOSE (\d+)$/m.exec(dockerfile)![1]!
const recipe = (name: string) => parse(read(`examples/ci/${name}`), { strict: true })

/** What the tests of a user read; the same names as those that `exec` gives. */
const FOR_TESTS = ['PAYOUT_SANDBOX_URL', 'PAYOUT_SANDBOX_ADMIN_URL', 'PAYOUT_SANDBOX_TOKEN']
const isUrl = (url: string, host: string, path: string) => url === `http://${host}:${PORT}${path}`

type Variables = Record<string, string>

t.test('the GitHub workflow waits for a healthy service on its port', async (t) => {
  const { services, steps } = recipe('github-actions.yml').jobs.test
  const { env, ports, options } = services['payout-sandbox']
  for (const name of Object.keys(env)) t.ok(optionNames.includes(name), name)
  t.strictSame(ports, [`${PORT}:${PORT}`])
  t.equal(options, undefined, 'the health check of the image is used')
  const given: Variables = steps.at(-1).env
  for (const name of FOR_TESTS) t.ok(name in given, name)
  t.ok(isUrl(given['PAYOUT_SANDBOX_URL']!, '127.0.0.1', '/v1'))
  t.ok(isUrl(given['PAYOUT_SANDBOX_ADMIN_URL']!, '127.0.0.1', '/__admin'))
  t.equal(given['PAYOUT_SANDBOX_ADMIN_TOKEN'], env.PAYOUT_SANDBOX_ADMIN_TOKEN)
})

t.test('the nightly workflow only reads, and gives its token to conform alone', async (t) => {
  const { on, permissions, jobs } = recipe('conform.yml')
  t.strictSame(permissions, { contents: 'read' })
  t.match(on.schedule[0].cron, /^\d+ \d+ /)
  const withToken = jobs.conform.steps.filter(({ env }: { env?: Variables }) => env)
  t.equal(withToken.length, 1)
  const { run, env } = withToken[0]
  t.match(env.PAYOUT_SANDBOX_TOKEN, /^\$\{\{ secrets\.\w+ \}\}$/)
  for (const [, flag] of run.split(' conform ')[1].matchAll(/--(\w+)/g)) t.ok(flag in conform.flags)
  t.notMatch(run, /--write|--token/)
})

t.test('the GitLab job finds the service by its alias and port', async (t) => {
  const { services, variables } = recipe('gitlab-ci.yml').test
  const [service] = services
  for (const name of Object.keys(service.variables)) t.ok(optionNames.includes(name), name)
  t.ok(isUrl(variables.PAYOUT_SANDBOX_URL, service.alias, '/v1'))
  t.ok(isUrl(variables.PAYOUT_SANDBOX_ADMIN_URL, service.alias, '/__admin'))
  t.equal(variables.HEALTHCHECK_TCP_PORT, PORT)
  for (const name of Object.keys(variables).filter((one) => one.startsWith('PAYOUT_')))
    t.ok([...optionNames, ...FOR_TESTS].includes(name), name)
})

t.test('the Compose file starts the tests once the sandbox is healthy', async (t) => {
  const { services } = recipe('compose.yaml')
  const { environment, ports, healthcheck } = services['payout-sandbox']
  for (const name of Object.keys(environment)) t.ok(optionNames.includes(name), name)
  t.strictSame(ports, [`127.0.0.1:${PORT}:${PORT}`])
  t.equal(healthcheck, undefined, 'that of the image is used')
  t.strictSame(services.tests.depends_on, { 'payout-sandbox': { condition: 'service_healthy' } })
  const given: Variables = services.tests.environment
  t.ok(isUrl(given['PAYOUT_SANDBOX_URL']!, 'payout-sandbox', '/v1'))
  t.ok(isUrl(given['PAYOUT_SANDBOX_ADMIN_URL']!, 'payout-sandbox', '/__admin'))
  t.equal(given['PAYOUT_SANDBOX_ADMIN_TOKEN'], environment.PAYOUT_SANDBOX_ADMIN_TOKEN)
})

t.test(
  'each Testcontainers example waits for the ready call on the port of the image',
  async (t) => {
    t.ok(ADMIN_CALLS.some(({ url, open }) => url === '/ready' && open))
    for (const [file, waits] of Object.entries({
      'node/payout-sandbox-container.mjs': /Wait\.forHttp\('\/__admin\/ready', PORT\)/,
      'java/PayoutSandboxContainer.java': /Wait\.forHttp\("\/__admin\/ready"\)\.forPort\(PORT\)/,
      'python/payout_sandbox_container.py': /HttpWaitStrategy\(PORT, "\/__admin\/ready"\)/,
      'go/sandbox_test.go': /wait\.ForHTTP\("\/__admin\/ready"\)\.WithPort\(port\)/,
    })) {
      const text = read(`examples/testcontainers/${file}`)
      t.match(text, waits, file)
      t.match(text, new RegExp(`port\\s+= "?${PORT}\\b`, 'i'), file)
      for (const [name] of text.matchAll(/PAYOUT_SANDBOX_[A-Z_]+/g))
        t.ok([...optionNames, ...FOR_TESTS].includes(name), name)
    }
  },
)

/** Runs the shell recipe as it lies or a copy of it, around the program that it finds or around another one. */
function shell({ sandbox = '', script = join(PACKAGE_ROOT, 'examples/ci/shell.sh'), cwd = '/' }) {
  const env: NodeJS.ProcessEnv = { ...process.env, SANDBOX: sandbox }
  for (const name of Object.keys(env))
    if (/^(PAYOUT_SANDBOX_|npm_|NODE_EXTRA)/i.test(name)) delete env[name]
  return spawnSync('env', ['-u', 'NODE_OPTIONS', script], {
    cwd,
    encoding: 'utf8',
    env,
    timeout: 60_000,
  })
}

t.test('the shell recipe starts a sandbox, pays, and stops it', async (t) => {
  const bin = `${process.execPath} ${join(PACKAGE_ROOT, 'dist/bin.cjs')}`
  const { status, stdout, stderr } = shell({})
  t.equal(status, 0, stderr)
  const url = /^ready at (\S+)\nthe payment is a success\n$/.exec(stdout)?.[1]
  t.ok(url, stdout)
  await t.rejects(fetch(`${url}/users`), 'nothing listens any more')
  // As npx does: the sandbox is a child of what is started.
  const wrapped = join(t.testdir({ npx: `#!/bin/sh\n${bin} "$@" & wait\n` }), 'npx')
  const behind = /^ready at (\S+)/.exec(shell({ sandbox: `sh ${wrapped}` }).stdout)?.[1]
  t.ok(behind)
  await t.rejects(fetch(`${behind}/users`), 'nothing of it is left')
  const failed = shell({ sandbox: `${bin} start --no-such-option` })
  t.not(failed.status, 0)
  t.match(failed.stderr, /--no-such-option/)
})

t.test('a copy of the shell recipe runs the package that is installed beside it', async (t) => {
  const project = t.testdir({ node_modules: { '.bin': {} }, 'package.json': '{}', ci: {} })
  const script = join(project, 'ci/shell.sh')
  cpSync(join(PACKAGE_ROOT, 'examples/ci/shell.sh'), script)
  const missing = shell({ script, cwd: project })
  t.not(missing.status, 0, 'nothing is fetched')
  // What an install of the tarball leaves there.
  symlinkSync(PACKAGE_ROOT, join(project, 'node_modules/payout-sandbox'))
  symlinkSync('../payout-sandbox/dist/bin.cjs', join(project, 'node_modules/.bin/payout-sandbox'))
  const { status, stdout, stderr } = shell({ script, cwd: project })
  t.equal(status, 0, stderr)
  t.match(stdout, /\nthe payment is a success\n$/)
})
