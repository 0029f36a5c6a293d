import type { Test } from 'tap'
import { PAN } from '../../helper.ts'
import type { ToolAnswer } from './agent.ts'

type CallTool = (name: string, args?: Record<string, unknown>) => Promise<ToolAnswer>

const post = (path: string, body: object) => ({ method: 'POST', path, body })

/** A secret of a webhook. */
export const SECRET = `whsec_${Buffer.from('a secret of a test').toString('base64')}`

/** Integrates a payment from nothing in twenty calls: the service changes only by what the tools do. */
export async function integratePayment(t: Test, callTool: CallTool) {
  let calls = 0
  async function tool(name: string, args?: Record<string, unknown>) {
    const answer = await callTool(name, args)
    t.match(answer.text, /\n\nNext: .+\.$/s, `call ${++calls}: ${name} says what to do next`)
    return answer
  }
  const created = ({ text }: ToolAnswer, status = 201) => {
    const [, found, body] = /^\S+ \S+: (\d+)\n(.+)\n\nNext: /.exec(text)!
    t.equal(Number(found), status, text)
    return JSON.parse(body!).data
  }

  const [, service] = /^Service: (\S+)/.exec((await tool('look')).text)!
  const person = (email: string, mobile: string) =>
    tool('call_service', post('/v1/user', { email, mobile }))
  const payer = created(await person('payer@example.com', '+919812345678')).user_id
  const receiver = created(await person('receiver@example.com', '+919812345679')).user_id
  created(await tool('call_service', post('/v1/kyc', { user_id: payer, kyc: [PAN] })))
  await tool('advance_clock', { by: '5m' })
  const kyc = { for: 'kyc', match: { user_id: payer, kyc_status: 'success' }, timeout_ms: 0 }
  t.notOk((await tool('wait_for', kyc)).isError, 'the KYC record is verified')
  const account = { user_id: receiver, account_number: '999912345678', ifsc_code: 'HDFC0000001' }
  const { bank_id } = created(await tool('call_service', post('/v1/bank', account))).data
  await tool('advance_clock', { by: '5m' })
  const inbox = new URL('/__admin/webhooks/inbox', service).href
  const webhook = { url: inbox, webhook_secret: SECRET }
  created(await tool('call_service', post('/v1/clientWebhook', webhook)), 200)
  await tool('snapshot', { do: 'save', name: 'before-paying' })

  const pay = (reference: string) =>
    tool(
      'call_service',
      post('/v1/transaction', {
        from_user_id: payer,
        to_user_id: receiver,
        benif_bank_id: bank_id,
        amount: 250,
        reference_id: reference,
      }),
    )
  const [{ transaction_id: paid }] = created(await pay('INV-1'), 200)
  const pending = await tool('explain_payment', { reference_id: 'INV-1' })
  t.match(pending.text, `Payment ${paid}: PENDING, 250.00 INR, reference INV-1`)
  await tool('advance_clock', { by: '1m' })
  const settled = { transaction_id: paid, transaction_status: 'success' }
  t.notOk((await tool('wait_for', { for: 'transaction', match: settled, timeout_ms: 0 })).isError)
  t.match(await tool('read_webhooks', { resource_id: paid }), {
    text: /transaction\.success: signature verified/,
  })

  await tool('make_call_fail', { how: 'reset_after' })
  const lost = await pay('INV-2')
  t.ok(lost.isError, 'the response is lost')
  t.match(lost.text, /no response/)
  const sent = { operation: 'createTransaction', body: { reference_id: 'INV-2' } }
  t.match(
    (await tool('verify_requests', { match: sent, exactly: 1 })).text,
    /^Verified: 1 call match/,
  )
  const found = await tool('explain_payment', { reference_id: 'INV-2' })
  t.match(found.text, /^Payment \S+: PENDING, 250\.00 INR, reference INV-2/)
  t.match(found.text, /Decided by: no rule.*\nMade by: .+: no response, rule /)
  const changes = await tool('snapshot', { do: 'changes', name: 'before-paying' })
  t.match(changes.text, /payments: 2 added, 0 removed, 0 changed/)
  t.equal(calls, 20)
}
