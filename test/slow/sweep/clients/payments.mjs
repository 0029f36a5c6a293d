// Pays wages once each: a payment without an answer is looked up in all pages before it is sent again.
import { Refused, Unclear } from './http.mjs'

const ROUNDS = 4
const PAGE = 3
const SECOND = 1_000
const DAY = 86_400 * SECOND
const BETWEEN_ROUNDS = 10 * SECOND
/** A bank can send a payment back for this long. */
const RETURN_WINDOW = 2 * DAY
const POLL_PAUSES = [1, 5, 30, 600, 1_800, 7_200, 86_400, 86_400, 86_400].map(
  (seconds) => seconds * SECOND,
)

// What is asked again anyway needs no second try at once.
const ONE_TRY = { tries: 1 }

const payersOf = (batch) => new Set(batch.map(({ wage }) => wage.from.user_id))

export const payments = (app) => ({
  /** Whether any answer showed that the service stores references. */
  keepsReferences: false,

  newPayment: (wage, reference) => ({
    wage,
    reference,
    state: 'new',
    status: 'SENT',
    id: undefined,
    utr: null,
  }),

  mayPayFrom: (payer) => payer.outcome === 'good',
  mayPayTo: (account) => account.outcome === 'good',

  amountOf: (text) => Number(text),
  referenceOf: (payment) => payment.reference,
  extraFields: () => ({}),

  bodyOf: (payment) => ({
    from_user_id: payment.wage.from.user_id,
    to_user_id: payment.wage.to.user_id,
    benif_bank_id: payment.wage.to.bank_id,
    amount: app.amountOf(payment.wage.amount),
    reference_id: app.referenceOf(payment),
    ...app.extraFields(payment),
  }),

  /** Sends a payment. Nothing is sent twice here, except after 429. */
  async send(payment) {
    try {
      const { data } = await app.call('POST', '/transaction', app.bodyOf(payment))
      const [transaction] = data
      app.keepsReferences ||= transaction.reference_id === payment.reference
      app.accept(payment, transaction)
    } catch (error) {
      app.sendFailed(payment, error)
    }
  },

  sendFailed(payment, error) {
    const isRefused = error instanceof Refused && error.status !== 409
    if (!isRefused && !(error instanceof Refused) && !(error instanceof Unclear)) throw error
    payment.state = isRefused ? 'refused' : 'unclear'
    app.log(`${payment.reference} is ${payment.state}: ${error.message}`)
  },

  historyOf: (payerId, options) =>
    app.rowsOf(`/transaction/history/user/${payerId}?limit=${PAGE}`, 'transactions', options),

  /** Whether a record of the history is this payment. */
  isRecordOf: (record, payment) =>
    record.client_transaction_id === payment.reference &&
    app.moneyOf(record.amount) === app.moneyOf(payment.wage.amount),

  /** A transaction with the content of a payment that is no known payment: the one without an answer. */
  async findUnclaimed({ wage }) {
    const known = new Set(app.payments.map(({ id }) => id))
    const all = await app.rowsOf('/transaction', 'transactions', ONE_TRY)
    return all.find(
      (one) =>
        !known.has(one.transaction_id) &&
        one.from_user_id === wage.from.user_id &&
        one.benif_bank_id === wage.to.bank_id &&
        app.moneyOf(one.amount) === app.moneyOf(wage.amount),
    )
  },

  /** Finds a payment at the service; `{}` if it is there and its id is not known. */
  async find(payment, history) {
    if (history.some((record) => app.isRecordOf(record, payment))) {
      const all = await app.rowsOf('/transaction', 'transactions', ONE_TRY)
      return all.find((one) => one.reference_id === payment.reference) ?? {}
    }
    const own = new Set(app.payments.map((one) => one.reference))
    app.keepsReferences ||= history.some((record) => own.has(record.client_transaction_id))
    return app.keepsReferences ? undefined : app.findUnclaimed(payment)
  },

  /** Finds out about payments without an answer, and sends those again that are not there. */
  async resolve(batch) {
    for (let round = 1; round <= ROUNDS; round++) {
      const unclear = batch.filter(({ state }) => state === 'unclear')
      if (unclear.length === 0) return
      await app.wait(BETWEEN_ROUNDS)
      try {
        for (const payerId of payersOf(unclear)) {
          const history = await app.historyOf(payerId, ONE_TRY)
          for (const payment of unclear.filter(({ wage }) => wage.from.user_id === payerId)) {
            const found = await app.find(payment, history)
            if (found) app.accept(payment, found)
            else await app.send(payment)
          }
        }
      } catch (error) {
        if (!(error instanceof Unclear)) throw error
      }
    }
  },

  async pay(wages) {
    const batch = wages.map(({ wage, reference }) => app.newPayment(wage, reference))
    app.payments.push(...batch)
    for (const payment of batch) {
      const { from, to } = payment.wage
      if (app.mayPayFrom(from) && app.mayPayTo(to)) await app.send(payment)
      else payment.state = 'refused'
    }
    await app.resolve(batch)
    return batch
  },

  onRecord: (_record) => undefined,

  /** Reads the status of all open payments from the history, once. */
  async poll(open) {
    const now = app.now()
    for (const payerId of payersOf(open)) {
      const records = await app.historyOf(payerId, ONE_TRY)
      for (const record of records) app.onRecord(record)
      for (const payment of open) {
        if (payment.wage.from.user_id !== payerId) continue
        const record = records.find((one) => app.isRecordOf(one, payment))
        if (record) app.pollOne(payment, record)
        else if (payment.id !== undefined && !app.keepsReferences)
          app.pollOne(payment, await app.readOne(payment))
        payment.seenAt = now
      }
    }
  },

  async readOne({ id }) {
    const { data } = await app.call('GET', `/transaction/${id}`, undefined, ONE_TRY)
    const [{ transaction_status: status, utr, transaction_id }] = data
    return { status, utr, transaction_id }
  },

  pollOne(payment, { status, utr, transaction_id }) {
    // The history shows a payment whose answer was lost.
    app.accept(payment, { transaction_id, transaction_status: status })
    app.move(payment, app.statusOf(status), utr)
  },

  /** Whether nothing can happen to a payment any more. */
  isSettled(payment) {
    if (payment.state === 'refused' || payment.status === 'FAILED') return true
    return app.isPaid(payment)
  },

  /** Whether the money has arrived and can no longer come back. */
  isPaid: (payment) =>
    payment.status === 'SUCCESS' && payment.seenAt >= payment.paidAt + RETURN_WINDOW,

  async follow(batch) {
    for (const pause of POLL_PAUSES) {
      const open = batch.filter((payment) => !app.isSettled(payment))
      if (open.length === 0) return
      await app.wait(pause)
      try {
        await app.poll(open)
      } catch (error) {
        if (!(error instanceof Unclear)) throw error
      }
    }
  },

  /** The payments to make again, once: those that failed for sure. */
  toRepeat: (batch) =>
    batch
      .filter((payment) => payment.status === 'FAILED')
      .map(({ wage, reference }) => ({ wage, reference: `${reference}-again` })),
})
