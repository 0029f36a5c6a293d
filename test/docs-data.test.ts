import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { call, run, serve } from './cli/program.ts'
import { hold, read } from './held-page.ts'

const PAGE = 'docs/data.md'
const blockOf = (language: string) =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(read(PAGE))![1]!

t.test('docs/data.md shows what state export prints', async (t) => {
  const { url, adminUrl } = await serve(t, ['--memory', '--clock', 'frozen'])
  await call(`${adminUrl}/clients`, { name: 'small', fixtures: 'empty' })
  const user = { email: 'asha@example.com', mobile: '9876500001' }
  t.equal((await call(`${url.replace(/v1$/, '@small/v1')}/user`, user)).status, 201)
  const { stdout } = await run(['state', 'export', '--client', 'small', '--url', url])
  hold(t, PAGE, 'state', `\`\`\`json\n${stdout}\`\`\`\n`)
})

t.test('an edit with lowdb is what the sandbox starts with', async (t) => {
  const cwd = t.testdir({ 'edit.mjs': blockOf('js') })
  mkdirSync(join(cwd, '.payout-sandbox'))
  const data = join(cwd, '.payout-sandbox/db.json')
  await (await serve(t, ['--data', data])).stop()
  const { status, stderr } = spawnSync(process.execPath, ['edit.mjs'], { cwd, encoding: 'utf8' })
  t.equal(status, 0, stderr)
  const { adminUrl } = await serve(t, ['--data', data])
  const { tables } = (await call(`${adminUrl}/state`)).body
  t.equal(tables.users[0].email, 'edited@example.com')
})

t.test('the commands of docs/data.md save a state and start from it', async (t) => {
  const cwd = t.testdir({})
  const { url, stop } = await serve(t, ['--memory'])
  const user = { email: 'demo@example.com', mobile: '9876500001' }
  await call(`${url}/user`, user)
  const [save = '', load = '', start = ''] = blockOf('sh').split('\n')
  const commandOf = (line: string) => line.split(' ').slice(1)
  const env = { PAYOUT_SANDBOX_URL: url }
  t.match(await run(commandOf(save), { cwd, env }), { code: 0, stdout: '' })
  const file = join(cwd, 'demo.json')
  const saved = readFileSync(file, 'utf8')
  t.match(await run(commandOf(load), { cwd, env }), { code: 0, stdout: /^demo\.json imported/ })
  await stop()
  const { adminUrl } = await serve(t, commandOf(start).slice(1), { cwd })
  t.equal((await call(`${adminUrl}/users?limit=1`)).body.users[0].email, user.email)
  t.equal(readFileSync(file, 'utf8'), saved)
})
