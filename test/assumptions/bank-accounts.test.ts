import t from 'tap'
import { ASHA, KABIR, start } from '../helper.ts'

const BLOCKED = { user_id: KABIR, account_number: '999900000002', ifsc_code: 'HDFC0000001' }

t.test('refused_bank_account: the check is a success, or fails and returns no name', async (t) => {
  for (const [reading, status, accountName] of [
    ['bank_txn_status_false', 'success', /^[A-Z]+ [A-Z]+$/],
    ['status_failure', 'failure', /^$/],
  ] as const) {
    const { post } = await start(t, { assume: { refused_bank_account: reading } })
    const { body } = await post('/v1/bank', BLOCKED)
    t.match(body.data, { status: true, data: { bank_status: 'failed' } })
    const { response } = body.data.data.metadata
    t.match(response, { status: false, code: 200, data: { status, statusCode: '200' } })
    t.match(response.data.result, {
      bankResponse: 'Account is blocked',
      accountName,
      ifsc: 'HDFCXXXX001',
      accountNumber: 'XXXXXXXX0002',
      bankTxnStatus: false,
    })
  }
})

t.test('refused_bank_account: a step without bankResponse has that of the reading', async (t) => {
  for (const [reading, response] of [
    ['bank_txn_status_false', 'Account is blocked'],
    ['status_failure', 'Invalid account number or IFSC provided'],
  ] as const) {
    const { sandbox } = await start(t, { assume: { refused_bank_account: reading } })
    const { metadata } = sandbox.default.payouts.bankAccounts.add(
      { ...BLOCKED, account_number: '123456789012' },
      [{ status: 'failed', after_ms: 0 }],
    )
    t.equal(metadata.response.data.result.bankResponse, response)
  }
})

const ACCOUNT = { ...BLOCKED, account_number: '123456789012' }
const accountsOf = async ({ get }: Awaited<ReturnType<typeof start>>) =>
  (await get(`/v1/bank/${KABIR}`)).body.data as { bank_id: string; bank_status: string }[]

t.test('same_bank_account=existing: the second call returns the account', async (t) => {
  const sandbox = await start(t, { assume: { same_bank_account: 'existing' } })
  const first = await sandbox.post('/v1/bank', ACCOUNT)
  const before = await accountsOf(sandbox)
  await sandbox.advance('1h')
  const again = await sandbox.post('/v1/bank', ACCOUNT)
  t.equal(again.status, 201)
  t.strictSame(again.body, first.body)
  t.strictSame(await accountsOf(sandbox), before)
})

t.test('same_bank_account=new: each call adds an account, and both can be paid', async (t) => {
  const sandbox = await start(t, { assume: { same_bank_account: 'new' } })
  const ids: string[] = []
  for (const _ of [1, 2]) ids.push((await sandbox.post('/v1/bank', ACCOUNT)).body.data.data.bank_id)
  t.not(ids[0], ids[1])
  for (const benif_bank_id of ids)
    t.equal((await sandbox.pay({ to_user_id: KABIR, benif_bank_id })).status, 200)
  const later = [
    { status: 'pending', after_ms: 0 },
    { status: 'success', after_ms: 1_000 },
  ] as const
  sandbox.sandbox.default.payouts.bankAccounts.add(ACCOUNT, later)
  await sandbox.advance('1s')
  t.equal((await accountsOf(sandbox))[0]!.bank_status, 'success')
})

t.test('unverified_account: a payment to an account that failed or is pending', async (t) => {
  // The two accounts fail, and stay pending.
  for (const account_number of ['999900000002', '999900000006']) {
    for (const [reading, status] of [
      ['refused', 422],
      ['accepted', 200],
    ] as const) {
      const { post, advance, get } = await start(t, { assume: { unverified_account: reading } })
      const added = (await post('/v1/bank', { ...BLOCKED, account_number })).body.data.data
      const parties = { from_user_id: ASHA, to_user_id: KABIR, benif_bank_id: added.bank_id }
      const { status: found, body } = await post('/v1/transaction', { ...parties, amount: 5 })
      t.equal(found, status, `${account_number} ${reading}`)
      if (status === 422) t.equal(body.error, 'bank_not_verified')
      else {
        t.equal(body.data[0].benif_bank.bank_status, added.bank_status)
        await advance('3s')
        const { transaction_id } = body.data[0]
        const paid = (await get(`/v1/transaction/${transaction_id}`)).body.data[0]
        t.equal(paid.transaction_status, 'success', 'it pays as to any other account')
      }
    }
  }
})
