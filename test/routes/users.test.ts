import t from 'tap'
import { GUARDED, start, TOKEN } from '../helper.ts'

const NEW = { email: 'Nila.Rao@example.com', mobile: '9876500001' }

t.test('creates a user with every field of the interface, and reads it back', async (t) => {
  const { post, get } = await start(t, GUARDED)
  const made = await post('/v1/user', NEW)
  t.match(made, { status: 201, body: { data: { ...NEW, pid: null, tid: null, bank_id: null } } })
  const { user_id } = made.body.data
  const read = await get(`/v1/user/${user_id}`)
  t.equal(read.status, 200)
  t.strictSame(read.body.data, made.body.data)
  t.equal((await get(`/v1/user/${user_id.toUpperCase()}`)).body.data.user_id, user_id)
  t.strictSame((await get('/v1/users?limit=1')).body.data.users, [made.body.data])
})

t.test('takes what the defaults allow', async (t) => {
  const { post } = await start(t, GUARDED)
  const taken = [
    { email: 'a1@example.com', mobile: '+916000000001' },
    { email: 'a2@example.com', mobile: '6000000002' },
    { email: 'a3@example.com', mobile: '+14155550123' },
    { email: 'a4@example.com', mobile: '6000000004', user_type: 'business' },
    { email: 'a5@example.com', mobile: '6000000005', unknown: { extra: true } },
  ]
  for (const body of taken) {
    const { status, body: answer } = await post('/v1/user', body)
    t.equal(status, 201, JSON.stringify(body))
    t.equal(answer.data.mobile, body.mobile, 'stored as sent')
    t.equal(answer.data.user_type, body.user_type ?? 'individual')
    t.notOk('unknown' in answer.data)
  }
})

t.test('refuses malformed bodies and names each field', async (t) => {
  const { post, get } = await start(t, GUARDED)
  const before = (await get('/v1/users')).text
  const refused: [unknown, [field: string, code: string][]][] = [
    [
      {},
      [
        ['email', 'required'],
        ['mobile', 'required'],
      ],
    ],
    [{ ...NEW, email: null }, [['email', 'invalid_type']]],
    [{ ...NEW, email: 7 }, [['email', 'invalid_type']]],
    [{ ...NEW, email: '' }, [['email', 'too_small']]],
    [{ ...NEW, email: 'nobody' }, [['email', 'invalid_format']]],
    [{ ...NEW, email: `${'a'.repeat(250)}@example.com` }, [['email', 'too_big']]],
    [{ ...NEW, mobile: 9876500001 }, [['mobile', 'invalid_type']]],
    [{ ...NEW, mobile: '5876500001' }, [['mobile', 'invalid_format']]],
    [{ ...NEW, mobile: '987650000' }, [['mobile', 'invalid_format']]],
    [{ ...NEW, mobile: '+0123456789' }, [['mobile', 'invalid_format']]],
    [{ ...NEW, mobile: '98765 00001' }, [['mobile', 'invalid_format']]],
    [{ ...NEW, user_type: 'robot' }, [['user_type', 'invalid_value']]],
  ]
  for (const [body, fields] of refused) {
    const { status, body: answer } = await post('/v1/user', body)
    t.equal(status, 400, JSON.stringify(body))
    t.equal(answer.error, 'validation_failed')
    const found = answer.errors.map(({ field, code }: Record<string, string>) => [field, code])
    // An empty text also fails the form of an e-mail; the first finding of a field counts.
    t.strictSame(found.slice(0, fields.length), fields, JSON.stringify(body))
    t.strictSame(
      [...new Set(found.map(([field]: string[]) => field))],
      fields.map(([field]) => field),
    )
  }
  t.equal((await get('/v1/users')).text, before)
})

t.test('an e-mail and a mobile belong to one user, however they are spelled', async (t) => {
  const { post } = await start(t, GUARDED)
  await post('/v1/user', NEW)
  const twice: [object, string][] = [
    [{ ...NEW, mobile: '9876500002' }, 'email'],
    [{ email: NEW.email.toUpperCase(), mobile: '9876500002' }, 'email'],
    [{ email: 'other@example.com', mobile: '9876500001' }, 'mobile'],
    [{ email: 'other@example.com', mobile: '+919876500001' }, 'mobile'],
    [{ email: 'ASHA.nair@example.com', mobile: '9876500002' }, 'email'],
  ]
  for (const [body, field] of twice) {
    const { status, body: answer } = await post('/v1/user', body)
    t.equal(status, 409, JSON.stringify(body))
    t.equal(answer.error, 'user_exists')
    t.equal(answer.errors[0].field, field)
    t.match(answer.message, (body as Record<string, string>)[field]!, 'what was sent')
  }
  const both = (await post('/v1/user', NEW)).body.errors
  t.match(both, [{ field: 'email' }, { field: 'mobile' }])
  t.equal((await post('/@other/v1/user', NEW)).status, 201, 'another client may have them')
})

t.test('an unknown id is 404, a malformed one 400', async (t) => {
  const { get } = await start(t)
  const ids: [string, number, string][] = [
    ['00000000-0000-4000-8000-000000000999', 404, 'not_found'],
    ['00000000-0000-4000-8000-000000000201', 404, 'not_found'],
    ['b0000000-0000-4000-8000-000000000001', 404, 'not_found'],
    ['17', 400, 'validation_failed'],
    ['00000000-0000-4000-8000-00000000000g', 400, 'validation_failed'],
    ['', 400, 'validation_failed'],
  ]
  for (const [id, status, word] of ids) {
    for (const path of ['user', 'kyc', 'bank', 'transaction/history/user']) {
      const answer = await get(`/v1/${path}/${id}`, TOKEN)
      t.equal(answer.status, status, `${path} ${id}`)
      t.equal(answer.body.error, word)
    }
  }
})
