import t from 'tap'
import { KABIR, PAN, pluck, start } from '../helper.ts'

const BAD: [object, field: string, record: object][] = [
  [{ document_type: 'vid' }, 'document_type', { document_type: 'vid', metadata: null }],
  [{ document_name: 'passport' }, 'document_name', { document_name: 'passport' }],
  [{ document_type: '123412341234' }, 'document_type', { document_type: 'XXXXXXXX1234' }],
  [{ document_name: 'ABCPE1234F' }, 'document_name', { document_name: 'XXXXXX234F' }],
  [{ document_name: 'aadhar' }, 'document_name', { document_name: 'aadhar' }],
  [{ dateOfBirth: '31-12-1899' }, 'dateOfBirth', { dob: '1899-12-31' }],
]
const submit = (...kyc: object[]) => ({ user_id: KABIR, kyc })

t.test('kyc_bad_document=entry_fails: the entry fails, the other documents do not', async (t) => {
  const { post, get, put } = await start(t)
  for (const [more, field, record] of BAD) {
    const { status, body } = await post('/v1/kyc', submit(PAN, { ...PAN, ...more }, PAN))
    t.equal(status, 201)
    t.strictSame(pluck(body.data, 'status'), [true, true, true], 'entry_status')
    t.match(body.data[1], { message: field, data: { kyc_status: 'failed', ...record } })
    const { kycData } = (await get(`/v1/kyc/${KABIR}`)).body.data.response.data
    t.strictSame(kycData[1], body.data[1].data)
  }
  const { body: state } = await get('/__admin/state')
  const before = (await get(`/v1/kyc/${KABIR}`)).text
  t.equal((await put('/__admin/state', state)).status, 200, 'a state has such records')
  t.equal((await get(`/v1/kyc/${KABIR}`)).text, before)
})

t.test('kyc_bad_document=call_fails: the call is 400 and stores nothing', async (t) => {
  const { post, get } = await start(t, { assume: { kyc_bad_document: 'call_fails' } })
  const before = (await get(`/v1/kyc/${KABIR}`)).text
  for (const [more, field] of BAD) {
    const { status, body } = await post('/v1/kyc', submit(PAN, { ...PAN, ...more }))
    t.match([status, body.errors], [400, [{ field: `kyc[1].${field}`, message: /; found "/ }]])
  }
  t.equal((await get(`/v1/kyc/${KABIR}`)).text, before)
})

t.test('kyc_bad_document: a missing field or one of another form is 400 in both', async (t) => {
  for (const reading of ['entry_fails', 'call_fails']) {
    const { post, get } = await start(t, { assume: { kyc_bad_document: reading } })
    const { document_type: _, ...missing } = PAN
    for (const item of [
      missing,
      { ...PAN, document_type: 7 },
      { ...PAN, dateOfBirth: '1990-02-28' },
      // No entry could show this day as its dob.
      { ...PAN, dateOfBirth: '31-02-1990' },
      { ...PAN, dateOfBirth: '29-02-1900' },
    ]) {
      const { status, body } = await post('/v1/kyc', submit(PAN, item))
      t.match([status, body.errors[0].field], [400, /^kyc\[1\]\./], JSON.stringify(item))
    }
    const { body } = await post('/v1/kyc', submit({ ...PAN, dateOfBirth: '31-02-1990' }))
    t.match(body.message, 'must be a real date as DD-MM-YYYY; found "31-02-1990"')
    t.strictSame((await get(`/v1/kyc/${KABIR}`)).body.data.response.data.kycData, [])
  }
})
