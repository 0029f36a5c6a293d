import t from 'tap'
import { Assumed } from '../../src/assumptions/readings.ts'
import { HistoryRecord } from '../../src/model/history.ts'
import type { PaymentRow } from '../../src/model/payment.ts'
import { Transaction } from '../../src/model/transaction.ts'
import { createViews } from '../../src/payouts/views.ts'

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
const { transaction, history } = createViews(() => CLIENT, new Assumed())
const transactionOf = (row: PaymentRow) => Transaction.parse(transaction({ row }))
const historyOf = (row: PaymentRow) => HistoryRecord.parse(history({ row }))

t.test('both views have the fields of the contract, in its order', async (t) => {
  const utr = '600100000041'
  const paid: PaymentRow = { ...row, status: 'SUCCESS', utr }
  t.same(Object.keys(transaction({ row: paid })), Object.keys(Transaction.shape))
  t.same(Object.keys(history({ row: paid })), Object.keys(HistoryRecord.shape))
  t.equal(transactionOf(paid).utr, 'XXXXXXXX0041')
  t.equal(historyOf(paid).utr, utr)
  t.equal(historyOf({ ...paid, transaction_type: 'credit' }).user_id, row.to_user_id)
})
