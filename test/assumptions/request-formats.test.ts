import t from 'tap'
import { GUARDED, KABIR, pluck, start, TOKEN } from '../helper.ts'

type Started = Awaited<ReturnType<typeof start>>

const statusOfMobile = async ({ post }: Started, mobile: string) =>
  (await post('/v1/user', { email: `u${mobile.replaceAll(/\W/g, '')}@example.com`, mobile })).status

const IMPOSSIBLE = [
  '+910000000000',
  '+911234567890',
  '+91876540000',
  '+9187654000031',
  '5876540000',
]

t.test('mobile_format lenient: any digits, one number in every spelling', async (t) => {
  const sandbox = await start(t, { assume: { ...GUARDED.assume, mobile_format: 'lenient' } })
  for (const mobile of [...IMPOSSIBLE, '+1 (415) 555-0123'])
    t.equal(await statusOfMobile(sandbox, mobile), 201, mobile)
  for (const mobile of ['123456', '1234567890123456', 'abc9876500001', '', '98765+00001'])
    t.equal(await statusOfMobile(sandbox, mobile), 400, mobile)
  const user = { email: 'first@example.com', mobile: '098765-00001' }
  const first = await sandbox.post('/v1/user', user)
  t.equal(first.body.data.mobile, '098765-00001')
  for (const mobile of ['9876500001', '+91 98765 00001', '919876500001'])
    t.equal(await statusOfMobile(sandbox, mobile), 409, mobile)
  const { body: state } = await sandbox.get('/__admin/state')
  const other = await start(t)
  t.equal((await other.put('/__admin/state', state)).status, 200, 'a state has them too')
})

t.test('email_format: strict is ASCII, lenient any script', async (t) => {
  const [strict, lenient] = [
    await start(t),
    await start(t, { assume: { email_format: 'lenient' } }),
  ]
  const table: [email: string, inStrict: number, inLenient: number][] = [
    ['a@example.com', 201, 201],
    ["o'neil+x@mail.example.co", 201, 201],
    ['a@münchen.de', 400, 201],
    ['अ@उदाहरण.भारत', 400, 201],
    ['a@b.c', 400, 201],
    ['a@localhost', 400, 400],
    ['a@b@example.com', 400, 400],
    ['a b@example.com', 400, 400],
    ['a@example..com', 400, 400],
    ['@example.com', 400, 400],
    ['a@example.com.', 400, 400],
  ]
  for (const [email, inStrict, inLenient] of table) {
    const user = { email, mobile: '9876500001' }
    t.equal((await strict.post('/v1/user', user)).status, inStrict, email)
    t.equal((await lenient.post('/v1/user', user)).status, inLenient, email)
  }
  const { body: state } = await lenient.get('/__admin/state')
  t.equal((await strict.put('/__admin/state', state)).status, 200, 'a state has them too')
})

const account = (more: object) => ({
  user_id: KABIR,
  account_number: '123456789012',
  ifsc_code: 'HDFC0000001',
  ...more,
})

t.test('account_number_format', async (t) => {
  const [plain, strict] = [
    await start(t),
    await start(t, { assume: { account_number_format: 'digits' } }),
  ]
  const rows: readonly (readonly [string, number, number])[] = [
    ['123456', 201, 400],
    ['AB12CD345678', 201, 400],
    ['a'.repeat(35), 201, 400],
    ['123456789', 201, 201],
    ['1234', 400, 400],
    ['a'.repeat(36), 400, 400],
    ['1234 5678 9', 400, 400],
  ]
  for (const [account_number, byDefault, digits] of rows) {
    t.equal(
      (await plain.post('/v1/bank', account({ account_number }))).status,
      byDefault,
      account_number,
    )
    t.equal(
      (await strict.post('/v1/bank', account({ account_number }))).status,
      digits,
      account_number,
    )
  }
  const { body } = await plain.get(`/v1/bank/${KABIR}`)
  const masked = pluck(body.data, 'account_number')
  t.ok(masked.includes('XX3456') && masked.includes('XXXXXXXX5678'))
  const { body: state } = await plain.get('/__admin/state')
  t.equal((await strict.put('/__admin/state', state)).status, 200, 'a state has them too')
})

t.test('ifsc_case accepted: it is stored in upper case', async (t) => {
  const { post, get } = await start(t)
  const { status, body } = await post('/v1/bank', account({ ifsc_code: 'hdfc0abc001' }))
  t.equal(status, 201)
  t.equal(body.data.data.ifsc_code, 'HDFCXXXX001')
  t.equal(
    (await post('/v1/bank', account({ ifsc_code: 'HDFC0ABC001' }))).status,
    409,
    'the same account',
  )
  const { body: state } = await get('/__admin/state')
  t.match(state.tables.bank_accounts.at(-1), { ifsc_code: 'HDFC0ABC001' })
})

t.test('malformed_id: 400, or 404 as for an id that nothing has', async (t) => {
  for (const [reading, expected] of [
    ['bad_request', [400, 'validation_failed']],
    ['not_found', [404, 'not_found']],
  ] as const) {
    const { get, post, pay } = await start(t, { assume: { malformed_id: reading } })
    const account = { account_number: '123456789012', ifsc_code: 'HDFC0000001' }
    const answers = [
      await get('/v1/user/nope'),
      await get('/v1/kyc/nope'),
      await get('/v1/bank/nope'),
      await get('/v1/transaction/nope'),
      await get('/v1/transaction/history/user/nope', TOKEN),
      await post('/v1/bank', { user_id: 'nope', ...account }),
      await pay({ from_user_id: 'nope' }),
      await pay({ to_user_id: 'nope' }),
      await pay({ benif_bank_id: 'nope' }),
    ]
    for (const { status, body } of answers) t.strictSame([status, body.error], expected, reading)
    t.equal((await pay({ benif_bank_id: 5 })).status, 400, 'another type is always invalid')
    t.equal((await pay()).status, 200)
  }
})
