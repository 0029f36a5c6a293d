import t from 'tap'
import { start } from '../helper.ts'

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
