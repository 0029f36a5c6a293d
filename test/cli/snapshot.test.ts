import t from 'tap'
import { call, run, serve } from './program.ts'

t.test('snapshot keeps a state, tells what changed since, and brings it back', async (t) => {
  const { url } = await serve(t, ['--memory', '--clock', 'frozen'])
  const at = (...words: string[]) => run(['snapshot', ...words, '--url', url])
  const stdout = async (...words: string[]) => (await at(...words)).stdout
  t.equal(await stdout('list'), 'no snapshots\n')
  t.equal(await stdout('save', 'before'), 'before saved, taken at 2026-01-01T00:00:00.000Z\n')
  t.equal(await stdout('diff', 'before'), 'no differences\n')
  const user = { email: 'new@example.com', mobile: '9000009999' }
  const id = (await call(`${url}/user`, user)).body.data.user_id
  await run(['scenario', 'use', 'slow', '--url', url])
  const diff = await stdout('diff', 'before')
  t.match(diff, /^table +change +id +fields\n/)
  t.match(diff, new RegExp(`\\nusers +added +${id}\\n`))
  t.match(diff, /\nsettings +/)
  t.match(JSON.parse(await stdout('diff', 'before', '--json')).tables, { users: { added: [id] } })
  t.match(await stdout('save', 'after'), /^after saved, taken at /)
  t.match(
    await stdout('save', 'after'),
    /^after saved \(replaces the previous snapshot\), taken at /,
  )
  t.match(await stdout('list'), /^name +taken at\nafter +2026-.+\nbefore +2026-/)
  t.equal(await stdout('restore', 'before'), 'before restored, now 2026-01-01T00:00:00.000Z\n')
  t.equal((await call(`${url}/users`)).body.data.total_users, 110)
  const since = await stdout('diff', 'after')
  t.match(since, new RegExp(`\\nusers +removed +${id}\\n`))
  t.equal(await stdout('delete', 'after'), 'after deleted\n')
  t.strictSame(JSON.parse(await stdout('list', '--json')).snapshots.length, 1)
  t.match(await at('restore', 'after'), { code: 1, stdout: '', stderr: /no snapshot after/ })
  t.match(await at('save', '../x'), { code: 2, stderr: /name/ })
  t.match(await at('restore', '../clock'), { code: 2, stdout: '' })
  t.match(await at('save'), { code: 2, stderr: /snapshot save needs NAME/ })
})

t.test('a changed row is shown field by field', async (t) => {
  const { url } = await serve(t, ['--memory', '--clock', 'frozen'])
  const at = (...words: string[]) => run([...words, '--url', url])
  await at('snapshot', 'save', 'one')
  await at('clock', 'advance', '1h')
  t.match((await at('snapshot', 'diff', 'one')).stdout, /\nsettings +changed +clock +.+ → /)
})
