import t, { type Test } from 'tap'
import { AADHAAR, KABIR, start, TOKEN } from '../helper.ts'

const REVIVED = {
  rules: [
    {
      when: { operation: 'createTransaction' },
      then: {
        transaction: [
          { status: 'PENDING' },
          { status: 'FAILED', after: '1s', reason: 'gateway_timeout' },
          { status: 'SUCCESS', after: '2d' },
        ],
      },
    },
    {
      when: { operation: 'submitKyc' },
      then: { kyc: [{ status: 'failed' }, { status: 'success', after: '2d' }] },
    },
  ],
}

async function revived(t: Test, late_success: string) {
  const box = await start(t, { assume: { late_success, pid_and_tid: 'on_success' } })
  await box.put('/__admin/scenario', { definition: REVIVED })
  await box.pay()
  await box.post('/v1/kyc', { user_id: KABIR, kyc: [AADHAAR] })
  await box.advance('1m')
  const newest = async () =>
    (await box.get('/v1/transaction/history?limit=1', TOKEN)).body.data.transactions[0]
  t.match(await newest(), { status: 'FAILED', utr: null })
  await box.advance('2d')
  await box.advance('1m')
  const events = (await box.get('/__admin/webhooks/deliveries?limit=100')).body.deliveries.map(
    ({ event }: { event: string }) => event,
  )
  const user = (await box.get(`/v1/user/${KABIR}`)).body.data
  return { payment: await newest(), events, user }
}

t.test(
  'what failed succeeds when a scenario says so: its failure is gone, its UTR and event come',
  async (t) => {
    const { payment, events, user } = await revived(t, 'possible')
    t.match(payment, { status: 'SUCCESS', utr: /^.{12,}$/ })
    t.strictSame(
      events.filter((one: string) => /^(transaction|kyc)[.](success|failed)$/.test(one)),
      ['transaction.success', 'kyc.success', 'transaction.failed', 'kyc.failed'],
    )
    t.match(user, { pid: /^.{36}$/ })
  },
)

t.test('with late_success=never the later step is skipped', async (t) => {
  const { payment, events, user } = await revived(t, 'never')
  t.match(payment, { status: 'FAILED', utr: null })
  t.notOk(events.includes('transaction.success'))
  t.equal(user.pid, null)
})
