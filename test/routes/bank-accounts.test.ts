import t from 'tap'
import { ASHA, GUARDED, KABIR, pluck, start } from '../helper.ts'

const NEW = { user_id: KABIR, account_number: '123456789012', ifsc_code: 'HDFC0000001' }

t.test('adds an account that is verified at once, and lists it without metadata', async (t) => {
  const { post, get } = await start(t)
  const { status, body } = await post('/v1/bank', NEW)
  t.equal(status, 201)
  const { metadata, ...shown } = body.data.data
  const { accountName } = metadata.response.data.result
  t.match(accountName, /^[A-Z]+ [A-Z]+$/, 'a name made from the number')
  t.strictSame((await get(`/v1/bank/${KABIR}`)).body.data, [shown])
  t.equal((await get(`/v1/user/${KABIR}`)).body.data.bank_id, shown.bank_id)
})

t.test('the first verified account is the user’s; lists show the newest first', async (t) => {
  const { post, get } = await start(t)
  const first = (await post('/v1/bank', NEW)).body.data.data.bank_id
  const second = (await post('/v1/bank', { ...NEW, account_number: '123456789013' })).body.data.data
  t.equal((await get(`/v1/user/${KABIR}`)).body.data.bank_id, first)
  t.strictSame(pluck((await get(`/v1/bank/${KABIR}`)).body.data, 'bank_id'), [
    second.bank_id,
    first,
  ])
})

t.test('the holder is the name of the KYC record, else always the same made-up one', async (t) => {
  const { post } = await start(t)
  const holder = async (body: object) =>
    (await post('/v1/bank', body)).body.data.data.metadata.response.data.result.accountName
  t.equal(await holder({ ...NEW, user_id: ASHA }), 'ASHA NAIR')
  const made = await holder(NEW)
  t.equal(await holder({ ...NEW, ifsc_code: 'ICIC0000001' }), made)
})

t.test('the same verified account of one user is refused; others may have it', async (t) => {
  const { post, get } = await start(t)
  await post('/v1/bank', NEW)
  const before = (await get(`/v1/bank/${KABIR}`)).text
  const again = await post('/v1/bank', NEW)
  t.equal(again.status, 409)
  t.equal(again.body.error, 'bank_account_exists')
  t.match(again.body.errors, [{ field: 'account_number', code: 'duplicate' }])
  t.notMatch(again.text, NEW.account_number)
  t.equal((await get(`/v1/bank/${KABIR}`)).text, before)
  t.equal((await post('/v1/bank', { ...NEW, user_id: ASHA })).status, 201)
  t.equal((await post('/v1/bank', { ...NEW, ifsc_code: 'ICIC0000001' })).status, 201)
})

t.test('a refused account is a 201 with status false inside, and may be tried again', async (t) => {
  const { sandbox, post, get } = await start(t, GUARDED)
  const { bankAccounts } = sandbox.default.payouts
  const failed = bankAccounts.add(NEW, [{ status: 'failed', after_ms: 0 }])
  t.match(failed, {
    status: false,
    row: { bank_status: 'failed' },
    metadata: {
      response: { status: false, data: { status: 'success', result: { bankTxnStatus: false } } },
    },
  })
  t.equal((await get(`/v1/user/${KABIR}`)).body.data.bank_id, null)
  t.equal((await post('/v1/bank', NEW)).status, 201)
})

t.test('refuses what has not the form, and shows what it found', async (t) => {
  const { post, get } = await start(t)
  const before = (await get(`/v1/bank/${KABIR}`)).text
  const refused: [object, string, string][] = [
    [{ ...NEW, account_number: undefined }, 'account_number', 'required'],
    [{ ...NEW, account_number: 12345678 }, 'account_number', 'invalid_type'],
    [{ ...NEW, account_number: '1234' }, 'account_number', 'invalid_format'],
    [{ ...NEW, account_number: '1'.repeat(36) }, 'account_number', 'invalid_format'],
    [{ ...NEW, account_number: '12345678901-a' }, 'account_number', 'invalid_format'],
    [{ ...NEW, account_number: '१२३४५६७८९' }, 'account_number', 'invalid_format'],
    [{ ...NEW, account_number: '123456789012\n' }, 'account_number', 'invalid_format'],
    [{ ...NEW, ifsc_code: 'HDFC1000001' }, 'ifsc_code', 'invalid_format'],
    [{ ...NEW, ifsc_code: 'HDFC000001' }, 'ifsc_code', 'invalid_format'],
    [{ ...NEW, user_id: 'me' }, 'user_id', 'invalid_format'],
  ]
  for (const [body, field, code] of refused) {
    const { status, body: answer, text } = await post('/v1/bank', body)
    t.equal(status, 400, JSON.stringify(body))
    t.equal(answer.error, 'validation_failed')
    t.match(answer.errors[0], { field, code })
    const sent = (body as Record<string, unknown>)[field]
    if (code !== 'required') t.ok(answer.message.includes(`; found ${JSON.stringify(sent)}`), text)
  }
  t.equal((await get(`/v1/bank/${KABIR}`)).text, before)
  const unknown = { ...NEW, user_id: '00000000-0000-4000-8000-000000000999' }
  t.equal((await post('/v1/bank', unknown)).body.error, 'not_found')
})
