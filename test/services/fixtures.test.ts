import { join } from 'node:path'
import t from 'tap'
import { fixturesOf, readFixtures } from '../../src/services/fixtures.ts'

const at = '2025-01-01T00:00:00.000Z'
const user = (n: number, more: object = {}) => ({
  user_id: `00000000-0000-4000-8000-00000000000${n}`,
  email: `u${n}@example.com`,
  mobile: `987650000${n}`,
  created_at: at,
  ...more,
})

t.test('a broken set is refused with file, path and reason', async (t) => {
  const table: [unknown, RegExp][] = [
    [[], /^set\.json: must be an object/],
    [{ people: [] }, /^set\.json: people: is none of/],
    [{ users: {} }, /^set\.json: users: must be a list/],
    [{ users: [user(1, { email: 'x' })] }, /^set\.json: users\[0\]\.email: /],
    [
      { users: [user(1), user(2, { email: 'U1@example.com' })] },
      /users\[1\]\.email: is there twice/,
    ],
    [
      { users: [user(1), user(2, { mobile: '+919876500001' })] },
      /users\[1\]\.mobile: is there twice/,
    ],
    [{ users: [user(1, { client: 'nobody' })] }, /users\[0\]\.client: there is no client nobody/],
  ]
  for (const [set, message] of table) t.throws(() => fixturesOf(set, 'set.json'), message)
})

const refusal = (path: string): string[] => {
  try {
    readFixtures(path)
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

t.test('what is wrong in a file is told with its line and column', async (t) => {
  const row = (n: number, more: object = {}) => `  ${JSON.stringify(user(n, more))}`
  const folder = t.testdir({
    'users.json': `[\n${row(1)},\n${row(2, { email: 'U1@example.com' })}\n]\n`,
    'kyc.json': '[{\n  "kyc_id": 5\n}]\n',
    'one.json': `\ufeff{\n"users": [\n${row(1)},\n]}\n`,
    'set.json': `{\n"users": [\n${row(1, { client: 'nobody' })}\n],\n"people": []}\n`,
    'twice.json': `{"users": [\n${row(1)},\n${row(2, { mobile: '9876500001' })}]}`,
  })
  t.match(refusal(folder), [
    /^.+kyc\.json:2:13: \[0\]\.kyc_id: /,
    /^.+kyc\.json:1:2: \[0\]\.user_id: /,
  ])
  t.strictSame(refusal(join(folder, 'one.json')), [
    `${folder}/one.json:3:${row(1).length + 1}: a comma with nothing behind it; take it away`,
  ])
  t.match(refusal(join(folder, 'set.json')), [/^.+set\.json:5:11: people: is none of clients, /])
  t.strictSame(refusal(join(folder, 'twice.json')), [
    `${folder}/twice.json:3:87: users[1].mobile: is there twice`,
  ])
  t.strictSame(refusal(join(folder, 'gone')), [`${folder}/gone: there is no such file or folder`])
})
