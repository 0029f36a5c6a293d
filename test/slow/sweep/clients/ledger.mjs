// What the integration knows of its payments. A status only moves forward, and each step is booked once.

const ORDER = ['SENT', 'PENDING', 'PROCESSING', 'SUCCESS', 'FAILED']

export const ledger = (app) => ({
  payments: [],
  /** The references of the wages that the employee has a payslip of. A reversal takes one away. */
  payslips: [],
  /** Paise of all payments that were accepted and did not fail. */
  spent: 0,

  /** Paise of a decimal text, without a float. */
  moneyOf(text) {
    const [, rupees, paise = ''] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(text) ?? []
    if (rupees === undefined) throw new Error(`${text} is not an amount`)
    return Number(rupees) * 100 + Number(paise.padEnd(2, '0'))
  },

  rank: (status) => ORDER.indexOf(status),
  /** A word that is not known is not decided. */
  statusOf: (word) => (ORDER.includes(word?.toUpperCase()) ? word.toUpperCase() : 'PENDING'),

  /** The service has this payment. */
  accept(payment, transaction) {
    if (payment.state === 'accepted') return
    payment.state = 'accepted'
    payment.id = transaction.transaction_id
    app.spent += app.moneyOf(payment.wage.amount)
    app.move(payment, app.statusOf(transaction.transaction_status), null)
  },

  storedUtr: (utr) => utr,

  /** Whether a UTR is the one that was stored; one of them can be masked. */
  isSameUtr: (stored, utr) => !stored || !utr || stored.slice(-4) === utr.slice(-4),

  /** What a status changes; undefined if it is not news. */
  decide(payment, status, utr) {
    if (utr && !payment.utr) payment.utr = app.storedUtr(utr)
    if (app.rank(status) <= app.rank(payment.status)) return undefined
    const isReturn = payment.status === 'SUCCESS' && status === 'FAILED'
    if (isReturn && !app.isSameUtr(payment.utr, utr)) return undefined
    return { status, isReturn }
  },

  commit(payment, { status, isReturn }) {
    const { reference } = payment
    payment.status = status
    if (status === 'SUCCESS') {
      payment.paidAt = app.now()
      app.payslips.push(reference)
    }
    if (isReturn) app.payslips.splice(app.payslips.indexOf(reference), 1)
    if (status === 'FAILED') app.spent -= app.moneyOf(payment.wage.amount)
  },

  move(payment, status, utr) {
    const step = app.decide(payment, status, utr)
    if (step) app.commit(payment, step)
  },
})
