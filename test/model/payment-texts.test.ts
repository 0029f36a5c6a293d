import t from 'tap'
import { HistoryRecord } from '../../src/model/history.ts'
import type { PaymentRow } from '../../src/model/payment.ts'
import { historyTextParts, transactionTextParts } from '../../src/model/row-texts.ts'
import { Transaction } from '../../src/model/transaction.ts'

const CLIENT = '20108365-04da-4363-adf7-966ca24821a1'
const row: PaymentRow = {
  transaction_id: '3d3d1e5e-0259-42d0-be85-6b1e001f36fe',
  id: 'f6cbb2ab-278f-4400-9a50-94cb006a9e36',
  reference_id: null,
  client_transaction_id: 'TXN962996976452745',
  partner_transaction_id: 'PTX120482245271911',
  from_user_id: '00000000-0000-4000-8000-000000000014',
  to_user_id: '00000000-0000-4000-8000-000000000015',
  benif_bank_id: 'b0000000-0000-4000-8000-000000000012',
  account_number: '999910000012',
  ifsc_code: 'HDFC0000001',
  account_name: 'KAVITA RATHORE',
  bank_status: 'success',
  currency_code: 'INR',
  transaction_type: 'debit',
  paise: 150_050,
  status: 'PENDING',
  utr: null,
  remark: '',
  failure: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:01.000Z',
}
const transactionOf = (one: PaymentRow) =>
  Transaction.parse(
    JSON.parse(
      `{"transaction_id":"${one.transaction_id}","client_id":"${CLIENT}",${transactionTextParts(one, 'pending')}}`,
    ),
  )
const historyOf = (one: PaymentRow) =>
  HistoryRecord.parse(
    JSON.parse(
      `{"id":"${one.id}","client_id":"${CLIENT}",${historyTextParts(one, { hasReason: true, noRemark: '', utrOf: (utr) => utr })}}`,
    ),
  )

t.test('whatever people write is JSON in both views, and comes back as it was', async (t) => {
  for (const text of ['"', '\\', '\n\u0000', '\u2028', '₹ 😀', '\ud800', '","status":"SUCCESS']) {
    const transaction = transactionOf({ ...row, reference_id: text, client_transaction_id: text })
    t.equal(transaction.reference_id, text)
    const failure = { reason: text, description: text, source: 'internal' as const }
    const history = historyOf({
      ...row,
      status: 'FAILED',
      ...{ client_transaction_id: text, account_name: text, remark: text, failure },
    })
    const { client_transaction_id, account_holder_name, remark, metadata, status } = history
    t.same([client_transaction_id, account_holder_name, remark], [text, text, text])
    t.same(metadata, failure)
    t.equal(status, 'FAILED')
  }
})

t.test('both views have the fields of the contract, in its order', async (t) => {
  const utr = '600100000041'
  const paid: PaymentRow = { ...row, status: 'SUCCESS', utr }
  t.same(Object.keys(transactionOf(paid)), Object.keys(Transaction.shape))
  t.same(Object.keys(historyOf(paid)), Object.keys(HistoryRecord.shape))
  t.equal(transactionOf(paid).utr, 'XXXXXXXX0041')
  t.equal(historyOf(paid).utr, utr)
  t.equal(historyOf({ ...paid, transaction_type: 'credit' }).user_id, row.to_user_id)
})
