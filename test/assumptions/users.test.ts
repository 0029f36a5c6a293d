import t from 'tap'
import { pluck, start } from '../helper.ts'

const ALLOWED = { assume: { duplicate_user: 'allowed' } }
const NEW = { email: 'one@example.com', mobile: '9876511111' }

t.test('duplicate_user=allowed: each call creates a user', async (t) => {
  const { post, get } = await start(t, ALLOWED)
  const ids: string[] = []
  for (const _ of [1, 2]) {
    const { status, body } = await post('/v1/user', NEW)
    t.equal(status, 201)
    ids.push(body.data.user_id)
  }
  t.not(ids[0], ids[1])
  for (const id of ids) t.match((await get(`/v1/user/${id}`)).body.data, NEW)
})

t.test('duplicate_user=conflict: users of another reading stay, also in a state', async (t) => {
  const { post, put, get } = await start(t)
  await put('/__admin/assumptions', ALLOWED.assume)
  for (const _ of [1, 2]) await post('/v1/user', NEW)
  const { body: state } = await get('/__admin/state')
  await put('/__admin/assumptions', { duplicate_user: 'conflict' })
  const refused = await post('/v1/user', NEW)
  t.match(refused, { status: 409, body: { error: 'user_exists' } })
  t.strictSame(pluck(refused.body.errors, 'field'), ['email', 'mobile'])
  const users = (await get('/v1/users')).text
  t.equal((await put('/__admin/state', state)).status, 200)
  t.equal((await get('/v1/users')).text, users)
  t.equal((await post('/v1/user', NEW)).status, 201, 'the state has its readings')
})
