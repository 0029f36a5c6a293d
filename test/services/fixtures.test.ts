import t from 'tap'
import { fixturesOf } from '../../src/services/fixtures.ts'

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
