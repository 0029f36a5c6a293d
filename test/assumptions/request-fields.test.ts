import t from 'tap'
import { ASHA, PAN, start, TOKEN } from '../helper.ts'

/** `field: message` of each error of a response. */
const errorsOf = ({ body }: { body: { errors: { field: string; message: string }[] } }) =>
  body.errors.map(({ field, message }) => `${field}: ${message}`)

t.test('own_request_fields ignored: any value has no effect', async (t) => {
  const { pay, post, get } = await start(t, { assume: { own_request_fields: 'ignored' } })
  for (const [i, user_type] of ['business', 'robot', 7, null].entries()) {
    const user = { email: `u${i}@example.com`, mobile: `981234567${i}`, user_type }
    const { status, body } = await post('/v1/user', user)
    t.equal(status, 201)
    t.equal(body.data.user_type, 'individual')
  }
  for (const more of [
    { remark: 'Rent', currency_code: 'USD' },
    { remark: 7, currency_code: {} },
  ]) {
    const { status, body } = await pay(more)
    t.equal(status, 200)
    t.equal(body.data[0].currency_code, 'INR')
    const { body: history } = await get('/v1/transaction/history?limit=1', TOKEN)
    t.equal(history.data.transactions[0].remark, '')
  }
})

t.test('amount_as_text refused: only a number is an amount', async (t) => {
  const { pay } = await start(t, { assume: { amount_as_text: 'refused' } })
  t.same(errorsOf(await pay({ amount: '10.00' })), ['amount: must be a number; found "10.00"'])
  t.same(errorsOf(await pay({ amount: undefined })), ['amount: is required'])
  t.equal((await pay({ amount: 1.005 })).status, 400)
  t.equal((await pay({ amount: 0.5 })).status, 400)
  const { body } = await pay({ amount: 10.5 })
  t.equal(body.data[0].amount, '10.50')
})

t.test('unknown_request_fields refused: each one is an error', async (t) => {
  const { pay, post, get } = await start(t, { assume: { unknown_request_fields: 'refused' } })
  const refused = await pay({ mode: 'IMPS', refrence_id: 'r', amount: 'x' })
  t.equal(refused.status, 400)
  t.same(errorsOf(refused).sort(), [
    'amount: must be 1.00 to 9999999999.99 with at most two decimals; amounts are never rounded; found "x"',
    'mode: is an unknown field',
    'refrence_id: is an unknown field; did you mean "reference_id"?',
  ])
  const kyc = [PAN, { ...PAN, gender: 'f' }]
  t.same(errorsOf(await post('/v1/kyc', { user_id: ASHA, kyc })), [
    'kyc[1].gender: is an unknown field',
  ])
  t.equal((await post('/v1/kyc', { user_id: ASHA, kyc: [PAN] })).status, 201)
  t.same(errorsOf(await get('/v1/users?pge=2')), ['pge: is an unknown field; did you mean "page"?'])
  t.equal((await get('/v1/users?page=2')).status, 200)
  t.equal((await pay({ reference_id: 'r', remark: 'Rent' })).status, 200)
})

t.test('a field that one reading ignores is not unknown to another', async (t) => {
  const { pay } = await start(t, {
    assume: {
      unknown_request_fields: 'refused',
      own_request_fields: 'ignored',
      reference_id: 'ignored',
    },
  })
  t.equal((await pay({ reference_id: 7, remark: 7 })).status, 200)
})

t.test('unknown_request_fields=refused: a query of any call', async (t) => {
  const { get, post } = await start(t, { assume: { unknown_request_fields: 'refused' } })
  for (const url of ['/v1/users', `/v1/user/${ASHA}`, `/v1/bank/${ASHA}`, `/v1/kyc/${ASHA}`])
    t.strictSame([(await get(url)).status, (await get(`${url}?foo=1`)).status], [200, 400], url)
  t.equal((await get('/v1/client/profile?z=1', TOKEN)).status, 400)
  const webhook = { url: 'http://127.0.0.1:9/', webhook_secret: 'secret' }
  t.equal((await post('/v1/clientWebhook?x=1', webhook)).status, 400)
  t.equal((await post('/v1/clientWebhook', webhook)).status, 200)
})
