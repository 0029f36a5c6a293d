import t, { type Test } from 'tap'
import { KABIR, start } from '../helper.ts'

const BLOCKED = { user_id: KABIR, account_number: '999900000002', ifsc_code: 'HDFC0000001' }

/** The inner part of the metadata of a refused account, and the part around it. */
async function refused(t: Test, assume = {}) {
  const { post } = await start(t, { assume })
  const { status, body } = await post('/v1/bank', BLOCKED)
  t.match([status, body.data], [201, { status: false, data: { bank_status: 'failed' } }])
  const { response } = body.data.data.metadata
  t.match(response, { status: false, code: 200 })
  return response.data
}

const RESULT = { ifsc: 'HDFCXXXX001', accountNumber: 'XXXXXXXX0002', bankTxnStatus: false }

t.test('refused_bank_account: the check is a success with bankTxnStatus false', async (t) => {
  const { result, ...around } = await refused(t)
  t.strictSame(around, { status: 'success', statusCode: '200' })
  const { accountName, ...rest } = result
  t.match(accountName, /^[A-Z]+ [A-Z]+$/)
  t.strictSame(rest, { bankResponse: 'Account is blocked', ...RESULT })
})

t.test('refused_bank_account=status_failure: the check fails and returns no name', async (t) => {
  const { result, ...around } = await refused(t, { refused_bank_account: 'status_failure' })
  t.strictSame(around, { status: 'failure', statusCode: '200' })
  t.strictSame(result, { bankResponse: 'Account is blocked', accountName: '', ...RESULT })
})

t.test('refused_bank_account: a step without bankResponse has that of the reading', async (t) => {
  for (const [reading, response] of [
    ['bank_txn_status_false', 'Account is blocked'],
    ['status_failure', 'Invalid account number or IFSC provided'],
  ] as const) {
    const { sandbox } = await start(t, { assume: { refused_bank_account: reading } })
    const { metadata } = sandbox.default.bankAccounts.add(
      { ...BLOCKED, account_number: '123456789012' },
      [{ status: 'failed', after_ms: 0 }],
    )
    t.equal(metadata.response.data.result.bankResponse, response)
  }
})
