import t from 'tap'
import { ASHA, GUARDED, start, TOKEN } from '../helper.ts'

const LISTS = [
  '/v1/users',
  '/v1/transaction',
  '/v1/transaction/history',
  `/v1/transaction/history/user/${ASHA}`,
]
const ROWS = ['users', 'transactions', 'transactions', 'transactions']

type Started = Awaited<ReturnType<typeof start>>

/** The `limit` of each list's response to a query; the status, if it is an error. */
const limitsOf = ({ get }: Started, query: string) =>
  Promise.all(
    LISTS.map(async (url, i) => {
      const { status, body } = await get(url + query, TOKEN)
      if (status !== 200) return status
      if (body.data[ROWS[i]!].length > body.data.limit) throw new Error('the page is too large')
      return body.data.limit
    }),
  )

t.test('limit_parameter ignored: only history has another page size', async (t) => {
  const sandbox = await start(t, { assume: { ...GUARDED.assume, limit_parameter: 'ignored' } })
  t.same(await limitsOf(sandbox, '?limit=3'), [50, 10, 3, 3])
  t.same(await limitsOf(sandbox, ''), [50, 10, 10, 10])
  t.same(await limitsOf(sandbox, '?limit=x'), [50, 10, 400, 400])
})

t.test('largest_page: a larger limit counts as this number', async (t) => {
  t.same(await limitsOf(await start(t, GUARDED), '?limit=1000'), [100, 100, 100, 100])
  const small = await start(t, { assume: { ...GUARDED.assume, largest_page: '20' } })
  t.same(await limitsOf(small, '?limit=1000'), [20, 20, 20, 20])
  t.same(await limitsOf(small, '?limit=3'), [3, 3, 3, 3])
  t.same(await limitsOf(small, ''), [20, 10, 10, 10], 'also than the default')
  t.same(await limitsOf(small, '?limit=0'), [400, 400, 400, 400])
  const large = await start(t, { assume: { ...GUARDED.assume, largest_page: '10000' } })
  t.same(await limitsOf(large, '?limit=20000'), [10_000, 10_000, 10_000, 10_000])
  const { get } = small
  t.equal(
    (await get('/__admin/users?limit=100')).body.limit,
    100,
    'the admin API is not the service',
  )
  for (const reading of ['0', '10001', '1e2', '-1', 'all']) {
    const { status, body } = await large.put('/__admin/assumptions', { largest_page: reading })
    t.equal(status, 400)
    t.match(body.errors[0].message, 'takes 100 or N')
  }
})

t.test('largest_page and limit_parameter together', async (t) => {
  const assume = { largest_page: '20', limit_parameter: 'ignored' }
  t.same(await limitsOf(await start(t, { assume }), '?limit=3'), [20, 10, 3, 3])
})

t.test('empty_query_value', async (t) => {
  const plain = await start(t, GUARDED)
  t.same(await limitsOf(plain, '?page=&limit='), [50, 10, 10, 10])
  const some = await plain.get('/v1/transaction/history?type=&page=2&limit=', TOKEN)
  t.equal(some.body.data.page, 2, 'the other parameters count')
  const strict = await start(t, { assume: { ...GUARDED.assume, empty_query_value: 'refused' } })
  t.same(await limitsOf(strict, '?page='), [400, 400, 400, 400])
  t.same(await limitsOf(strict, '?limit='), [400, 400, 400, 400])
  const typed = await strict.get('/v1/transaction/history?type=', TOKEN)
  t.match(typed.body.errors, [{ field: 'type' }])
})

t.test('trailing_slash: each path has the same behaviour', async (t) => {
  const [plain, strict] = [
    await start(t, GUARDED),
    await start(t, { assume: { ...GUARDED.assume, trailing_slash: 'refused' } }),
  ]
  const paths = [
    ...LISTS,
    `/v1/user/${ASHA}`,
    `/v1/kyc/${ASHA}`,
    `/v1/bank/${ASHA}`,
    '/v1/client/profile',
  ]
  for (const path of paths) {
    const without = await plain.get(path, TOKEN)
    t.equal((await plain.get(`${path}/`, TOKEN)).text, without.text, path)
    t.equal((await plain.get(`${path}/?page=1`, TOKEN)).status, 200)
    const refused = await strict.get(`${path}/?page=1`, TOKEN)
    t.equal(refused.status, 404, path)
    t.equal(refused.body.message, `There is no route GET ${path}/. See /docs for all routes.`)
  }
  const { status } = await plain.post('/@new/v1/user/', {
    email: 'a@example.com',
    mobile: '9876500001',
  })
  t.equal(status, 201)
  t.equal((await strict.post('/v1/user/', {})).status, 404)
  t.equal((await plain.call('DELETE', '/v1/users/')).status, 405)
  t.equal((await plain.get('/v1/users//')).status, 404, 'only one slash')
})

t.test('page_past_the_end: an empty list, or not found; page 1 always exists', async (t) => {
  const past = async (reading: string, fixtures?: 'empty') => {
    const { get, post } = await start(t, {
      assume: { ...GUARDED.assume, page_past_the_end: reading },
    })
    let base = ''
    if (fixtures) {
      await post('/__admin/clients', { name: 'empty', fixtures, access_token: 'sbx_empty' })
      base = '/@empty'
    }
    const page = fixtures ? 1 : 99
    const token = fixtures ? {} : TOKEN
    const lists = base === '' ? LISTS : LISTS.slice(0, 2)
    return Promise.all(
      lists.map(async (url, i) => {
        const { status, body } = await get(`${base}${url}?page=${page}`, token)
        return status === 200 ? body.data[ROWS[i]!].length : `${status} ${body.message}`
      }),
    )
  }
  t.strictSame(await past('empty'), [0, 0, 0, 0])
  t.strictSame(await past('not_found'), Array(4).fill('404 No page 99 for this client.'))
  t.strictSame(await past('not_found', 'empty'), [0, 0])
  const { get } = await start(t, { assume: { ...GUARDED.assume, page_past_the_end: 'not_found' } })
  const { total, limit } = (await get('/__admin/users?page=99')).body
  t.ok(total > 0 && limit > 0, 'the admin API is not the service')
  const { total_users } = (await get('/v1/users')).body.data
  t.equal((await get(`/v1/users?limit=1&page=${total_users}`)).status, 200, 'the last page')
  t.equal((await get(`/v1/users?limit=1&page=${total_users + 1}`)).status, 404)
})

t.test('largest_page: a scenario can have a number; an error names the range', async (t) => {
  const { get, put } = await start(t, GUARDED)
  const use = (largest_page: unknown) =>
    put('/__admin/scenario', { definition: { title: 'x', assume: { largest_page } } })
  t.equal((await use(7)).status, 200)
  t.equal((await get('/v1/users?limit=50')).body.data.limit, 7)
  for (const wrong of [0, 1.5, 10_001]) t.match((await use(wrong)).body.message, 'N is 1 to 10000')
  const quoted = { definition: 'title: x\nassume: { history_metadata: null }\n' }
  t.match((await put('/__admin/scenario', quoted)).body.message, 'write "null" with quotes')
})
