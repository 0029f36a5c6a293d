import t from 'tap'
import { AADHAAR, GUARDED, KABIR, PAN, pluck, start } from '../helper.ts'

const ITEM = { ...PAN, document_number: 'ABCPD1234E', dateOfBirth: '29-02-2000' }
const submit = (...kyc: object[]) => ({ user_id: KABIR, kyc })

t.test('a PAN is verified by the system at once', async (t) => {
  const { post, get } = await start(t, GUARDED)
  const { status, body } = await post('/v1/kyc', submit(ITEM))
  t.equal(status, 201)
  const { kyc_id, ...record } = body.data[0].data
  t.match(record, { kyc_status: 'success', verified_by: 'system', dob: '2000-02-29' })
  t.match(record.metadata.response.data.metaData.requestId, /^1767225600000-[0-9a-f-]{36}$/)
  const user = (await get(`/v1/user/${KABIR}`)).body.data
  t.equal(user.tid, kyc_id)
  t.strictSame((await get(`/v1/kyc/${KABIR}`)).body.data.response.data, {
    user: [user],
    kycData: [body.data[0].data],
  })
})

t.test('an Aadhaar is pending and succeeds after five seconds of the client’s clock', async (t) => {
  const { post, get, advance } = await start(t, GUARDED)
  const { body } = await post('/v1/kyc', submit(AADHAAR))
  const record = body.data[0].data
  t.match(body.data[0], { status: true, data: { kyc_status: 'pending', verified_by: 'client' } })
  t.equal(record.metadata, null)
  t.equal(record.document_number, 'XXXXXXXX7777')
  const now = async () =>
    (await get(`/v1/kyc/${KABIR}`)).body.data.response.data.kycData[0] as Record<string, unknown>
  await advance('4999ms')
  t.equal((await now())['kyc_status'], 'pending')
  t.equal((await get(`/v1/user/${KABIR}`)).body.data.pid, null)
  await advance('1ms')
  t.strictSame(await now(), {
    ...record,
    kyc_status: 'success',
    updated_at: '2026-01-01T00:00:05.000Z',
  })
  t.equal((await get(`/v1/user/${KABIR}`)).body.data.pid, record.kyc_id)
})

t.test('a number that is none fails its entry inside the 201', async (t) => {
  const { post, get } = await start(t, GUARDED)
  const items: [object, string, string, number | undefined][] = [
    [{ ...ITEM, document_number: '' }, 'failed', 'system', 400],
    [{ ...ITEM, document_number: 'abcpd1234e' }, 'failed', 'system', 400],
    [{ ...ITEM, document_number: 'ABCPD12345' }, 'failed', 'system', 400],
    [{ ...AADHAAR, document_number: '' }, 'pending', 'client', undefined],
    [{ ...AADHAAR, document_number: '12345678901' }, 'failed', 'client', undefined],
    [{ ...AADHAAR, document_number: '1234567890123' }, 'failed', 'client', undefined],
    [{ ...AADHAAR, document_number: '999911112222' }, 'pending', 'client', undefined],
  ]
  const { status, body } = await post('/v1/kyc', submit(...items.map(([item]) => item)))
  t.equal(status, 201)
  t.equal(body.data.length, items.length)
  for (const field of ['nameOnCard', 'Nationality'])
    t.equal((await post('/v1/kyc', submit({ ...ITEM, [field]: '  ' }))).status, 400, field)
  for (const [i, [item, kyc_status, verified_by, statusCode]] of items.entries()) {
    const entry = body.data[i]
    t.equal(entry.status, kyc_status !== 'failed', JSON.stringify(item))
    t.match(entry.data, { kyc_status, verified_by })
    t.equal(entry.data.metadata?.statusCode, statusCode)
    if (statusCode) t.equal(entry.data.metadata.response.status, false)
  }
  t.match((await get(`/v1/user/${KABIR}`)).body.data, { pid: null, tid: null })
})

t.test('an empty Aadhaar stays pending', async (t) => {
  const { post, get, advance } = await start(t)
  await post('/v1/kyc', submit({ ...AADHAAR, document_number: '' }))
  await advance('30d')
  t.equal((await get(`/v1/kyc/${KABIR}`)).body.data.response.data.kycData[0].kyc_status, 'pending')
})

t.test('submitting again makes a new record, and the latest successful one wins', async (t) => {
  const { post, get, advance, sandbox } = await start(t, GUARDED)
  const first = (await post('/v1/kyc', submit(ITEM))).body.data[0].data.kyc_id
  const second = (await post('/v1/kyc', submit(ITEM))).body.data[0].data.kyc_id
  await post('/v1/kyc', submit({ ...ITEM, document_number: '' }))
  t.not(first, second)
  t.equal((await get(`/v1/user/${KABIR}`)).body.data.tid, second)
  t.equal((await get(`/v1/kyc/${KABIR}`)).body.data.response.data.kycData.length, 3)

  const [older] = (await post('/v1/kyc', submit(AADHAAR))).body.data
  const [newer] = (await post('/v1/kyc', submit(AADHAAR))).body.data
  sandbox.default.payouts.kyc.simulate(newer.data.kyc_id, { status: 'success' })
  await advance('5s')
  const { kycData, user } = (await get(`/v1/kyc/${KABIR}`)).body.data.response.data
  t.equal(
    kycData.find((row: Record<string, string>) => row['kyc_id'] === older.data.kyc_id).kyc_status,
    'success',
  )
  t.equal(user[0].pid, newer.data.kyc_id, 'a late success of an older record changes nothing')
})

t.test('tells the country of a nationality', async (t) => {
  const { post } = await start(t)
  const table = { Indian: 'IN', India: 'IN', IND: 'IN', IN: 'IN', indian: 'IN', np: 'NP', US: 'US' }
  const items = Object.keys(table).map((Nationality) => ({ ...ITEM, Nationality }))
  const { body } = await post('/v1/kyc', submit(...items))
  t.strictSame(pluck(pluck(body.data, 'data'), 'country'), Object.values(table))
})

t.test('refuses what has not the form, and stores none of it', async (t) => {
  const { post, get } = await start(t, { assume: { kyc_bad_document: 'call_fails' } })
  const before = (await get(`/v1/kyc/${KABIR}`)).text
  const { document_number: _, ...noNumber } = ITEM
  const { Nationality: __, ...noNationality } = ITEM
  const refused: [unknown, string, string][] = [
    [{ user_id: KABIR }, 'kyc', 'required'],
    [{ kyc: [ITEM] }, 'user_id', 'required'],
    [{ user_id: 'x', kyc: [ITEM] }, 'user_id', 'invalid_format'],
    [submit(), 'kyc', 'too_small'],
    [{ user_id: KABIR, kyc: ITEM }, 'kyc', 'invalid_type'],
    [submit(ITEM, noNumber), 'kyc[1].document_number', 'required'],
    [submit(noNationality), 'kyc[0].Nationality', 'required'],
    [submit({ ...ITEM, dateOfBirth: '2000-02-29' }), 'kyc[0].dateOfBirth', 'invalid_format'],
    [submit({ ...ITEM, dateOfBirth: '29-02-2001' }), 'kyc[0].dateOfBirth', 'invalid_format'],
    [submit({ ...ITEM, dateOfBirth: '31-04-2000' }), 'kyc[0].dateOfBirth', 'invalid_format'],
    [submit({ ...ITEM, document_type: 'vid' }), 'kyc[0].document_type', 'invalid_value'],
    [submit({ ...ITEM, document_name: 'aadhar' }), 'kyc[0].document_name', 'invalid_value'],
    [submit({ ...AADHAAR, document_name: 'pan' }), 'kyc[0].document_name', 'invalid_value'],
    [submit({ ...ITEM, nameOnCard: 7 }), 'kyc[0].nameOnCard', 'invalid_type'],
    [submit({ ...ITEM, nameOnCard: '' }), 'kyc[0].nameOnCard', 'too_small'],
    [submit({ ...ITEM, document_number: 12 }), 'kyc[0].document_number', 'invalid_type'],
    [submit('pan' as never), 'kyc[0]', 'invalid_type'],
  ]
  for (const [body, field, code] of refused) {
    const { status, body: answer } = await post('/v1/kyc', body)
    t.equal(status, 400, JSON.stringify(body))
    t.equal(answer.error, 'validation_failed')
    t.match(answer.errors[0], { field, code })
  }
  t.equal((await get(`/v1/kyc/${KABIR}`)).text, before)
  const unknown = '00000000-0000-4000-8000-000000000999'
  t.equal((await post('/v1/kyc', { user_id: unknown, kyc: [ITEM] })).body.error, 'not_found')
})

t.test('a date of birth is a day from 1900 to today on the client’s clock', async (t) => {
  const { post } = await start(t, { assume: { kyc_bad_document: 'call_fails' } })
  const submit = (dateOfBirth: string) =>
    post('/v1/kyc', { user_id: KABIR, kyc: [{ ...ITEM, dateOfBirth }, ITEM] })
  // The clock is frozen at the first day of 2026.
  for (const date of ['01-01-2999', '02-01-2026', '31-12-1899', '01-01-0001']) {
    const { status, body } = await submit(date)
    t.equal(status, 400, date)
    t.match(body.errors, [{ field: 'kyc[0].dateOfBirth', code: 'invalid_format' }])
    t.match(body.message, `found "${date}"`)
  }
  for (const date of ['01-01-2026', '01-01-1900']) t.equal((await submit(date)).status, 201, date)
  t.equal((await post('/__admin/clock/freeze', { at: '2026-01-02T00:00:00Z' })).status, 200)
  t.equal((await submit('02-01-2026')).status, 201, 'a day later')
})

t.test('a PAN whose fourth letter is no kind of holder fails', async (t) => {
  const { post } = await start(t, GUARDED)
  const submit = async (document_number: string) =>
    (await post('/v1/kyc', { user_id: KABIR, kyc: [{ ...ITEM, document_number }] })).body.data[0]
  const kinds = new Set('PCHFATBLJG')
  for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
    const { status, data } = await submit(`ABC${letter}A1234A`)
    t.equal(status, kinds.has(letter), letter)
    t.equal(data.kyc_status, kinds.has(letter) ? 'success' : 'failed')
  }
  const { message, data } = await submit('ABCDE1234F')
  t.equal(
    message,
    "The fourth letter, D, isn't a valid holder type; use P for a person, C for a company, or one of A, B, F, G, H, J, L, T",
  )
  t.equal(data.metadata.response.message, message)
  t.equal((await submit('ABCP1234F')).message, 'The PAN is empty or malformed')
  for (const pan of ['abcpd1234e', 'ABCPd1234E'])
    t.equal((await submit(pan)).message, 'The PAN has small letters; send it in capitals')
})
