// Copies of the careful integration with one planted bug each. `patch(app, careful)` returns the functions that differ.

/** Sends payments without an answer again, and looks nothing up. */
const sendAgain = (app) => async (batch) => {
  for (let round = 1; round <= 4; round++)
    for (const payment of batch.filter(({ state }) => state === 'unclear')) {
      await app.wait(10_000)
      await app.send(payment)
    }
}

/** Bugs of making a payment. */
const paying = [
  {
    name: 'pays_again_without_looking_up',
    what: 'a payment has no reference, and is sent again when it had no answer',
    expectedVerdicts: ['paid_twice'],
    patch: (app) => ({ referenceOf: () => undefined, resolve: sendAgain(app) }),
  },
  {
    name: 'relies_on_a_unique_reference',
    what: 'a payment without an answer is sent again with its reference: the service shall refuse the second one',
    expectedVerdicts: ['paid_twice'],
    depth: 2,
    patch: (app) => ({ resolve: sendAgain(app) }),
  },
  {
    name: 'new_reference_per_retry',
    what: 'each try has a reference of its own, so that no look-up finds the try before',
    expectedVerdicts: ['paid_twice'],
    patch: (app) => ({
      referenceOf(payment) {
        payment.tries = (payment.tries ?? 0) + 1
        if (payment.tries > 1) payment.reference = `${payment.reference}-try-${payment.tries}`
        return payment.reference
      },
      resolve: sendAgain(app),
    }),
  },
  {
    name: 'relies_on_idempotency_key',
    what: 'a payment without an answer is sent again with the same Idempotency-Key',
    expectedVerdicts: ['paid_twice'],
    patch: (app, careful) => ({
      referenceOf: () => undefined,
      headers: (method, path) => ({
        ...careful.headers(method, path),
        ...(app.sending && { 'idempotency-key': app.sending }),
      }),
      async send(payment) {
        app.sending = payment.reference
        await careful.send(payment)
        app.sending = undefined
      },
      resolve: sendAgain(app),
    }),
  },
  {
    name: 'looks_up_with_the_amount_only',
    what: 'takes an equal payment in the history for the one without an answer',
    expectedVerdicts: ['not_paid'],
    patch: (app) => ({
      isRecordOf: (record, payment) =>
        app.moneyOf(record.amount) === app.moneyOf(payment.wage.amount) &&
        record.account_number.slice(-4) === payment.wage.to.last4,
    }),
  },
  {
    name: 'gives_up_at_the_first_503',
    what: 'tells the employee after one 503 that the payment failed, though it can be paid',
    expectedVerdicts: ['not_paid'],
    patch: (_app, careful) => ({
      isFinal: (status) => careful.isFinal(status) || status === 503,
    }),
  },
  {
    name: 'takes_silence_for_a_refusal',
    what: 'a payment without an answer is marked as refused',
    expectedVerdicts: ['not_paid'],
    patch: (_app, careful) => ({
      sendFailed(payment, error) {
        careful.sendFailed(payment, error)
        payment.state = 'refused'
      },
    }),
  },
  {
    name: 'pays_a_failed_payment_twice',
    what: 'an event and the poll after it both order a new payment for one that failed',
    expectedVerdicts: ['paid_twice'],
    patch: (_app, careful) => ({
      toRepeat: (batch) =>
        careful
          .toRepeat(batch)
          .flatMap((one) => [one, { ...one, reference: `${one.reference}-2` }]),
    }),
  },
]

/** Without a fault, no copy pays to the blocked account: its test would find that without a sweep. */
const isNotBlocked = ({ last4 }) => last4 !== '0002'

/** Bugs of checking a payer and an account. */
const checking = [
  {
    name: 'pays_to_an_unverified_account',
    what: 'does not look at the outcome of the check of an account, except for one that is known',
    expectedVerdicts: ['paid_unverified'],
    patch: () => ({ mayPayTo: isNotBlocked }),
  },
  {
    name: 'takes_the_inner_status_for_the_account',
    what: 'reads the status of the check in the metadata, which is a success also for a refused account',
    expectedVerdicts: ['paid_unverified'],
    patch: (app, careful) => ({
      mayPayTo: (account) => isNotBlocked(account) && careful.mayPayTo(account),
      accountOutcome: (record) =>
        app.outcomeOf(record.metadata?.response?.data?.status ?? record.bank_status),
    }),
  },
]

/** Bugs of following a payment. */
const following = [
  {
    name: 'reads_only_the_first_page',
    what: 'each list ends after its first page',
    expectedVerdicts: ['relies_on'],
    patch: () => ({ isLastPage: () => true }),
  },
  {
    name: 'treats_2xx_as_paid',
    what: 'a payment is paid as soon as the service has accepted it',
    expectedVerdicts: ['not_paid'],
    patch: () => ({ isPaid: (payment) => payment.state === 'accepted' }),
  },
  {
    name: 'takes_pending_as_success',
    what: 'a payment that is not failed at the first look is paid',
    expectedVerdicts: ['not_paid'],
    patch: () => ({
      isPaid: (payment) => payment.seenAt !== undefined && payment.status !== 'FAILED',
    }),
  },
  {
    name: 'ignores_failed_after_success',
    what: 'SUCCESS is the end: a payment that the bank sends back later stays paid',
    expectedVerdicts: ['not_paid'],
    patch: (_app, careful) => ({
      decide: (payment, status, utr) =>
        payment.status === 'SUCCESS' ? undefined : careful.decide(payment, status, utr),
    }),
  },
  {
    name: 'needs_webhooks_to_come',
    what: 'never asks for the status of a payment',
    expectedVerdicts: ['relies_on'],
    patch: () => ({
      async poll() {},
      isPaid: (payment) => payment.status === 'SUCCESS',
    }),
  },
]

/** Bugs of the receiver of webhooks. */
const receiving = [
  {
    name: 'crashes_on_an_unknown_word',
    what: 'a status that is none of the four is an exception',
    expectedVerdicts: ['relies_on'],
    faults: 'new_words',
    patch: (_app, careful) => ({
      statusOf(word) {
        if (!/^(pending|processing|success|failed)$/i.test(word))
          throw new Error(`the status ${word} does not exist`)
        return careful.statusOf(word)
      },
    }),
  },
  {
    name: 'trusts_unsigned_events',
    what: 'an event without a signature is stored like any other',
    expectedVerdicts: ['accepted_forged'],
    patch: (_app, careful) => ({
      isGenuine: (headers, body) =>
        headers['webhook-signature'] || headers['x-webhook-signature']
          ? careful.isGenuine(headers, body)
          : true,
    }),
  },
  {
    name: 'verifies_no_signature',
    what: 'each event that can be read is stored',
    expectedVerdicts: ['accepted_forged'],
    patch: () => ({ isGenuine: () => true }),
  },
  {
    name: 'last_event_wins',
    what: 'the status is that of the event that came last',
    expectedVerdicts: ['relies_on'],
    patch: (app) => ({
      applyEvent(payment, { status, utr }) {
        payment.status = payment.status === status ? status : 'SENT'
        app.move(payment, status, utr)
      },
    }),
  },
  {
    name: 'processes_a_repeated_event_twice',
    what: 'an event that comes again has its effect again',
    expectedVerdicts: ['relies_on'],
    patch: (app) => ({
      isRepeat: () => false,
      applyEvent(payment, { status, utr }) {
        if (payment.status === status) app.commit(payment, { status, isReturn: false })
        else app.move(payment, status, utr)
      },
    }),
  },
  {
    name: 'acknowledges_before_storing',
    what: 'answers at once, decides on what is stored at that moment, and stores later',
    expectedVerdicts: ['relies_on'],
    patch: (app) => ({
      handle(event, answer) {
        answer(200)
        const payment = app.payments.find(({ id }) => id === event.transactionId)
        if (app.isRepeat(event) || !event.isPayment || !payment) return
        const work = async () => {
          const step = app.decide(payment, event.status, event.utr)
          await new Promise((resolve) => setTimeout(resolve, 40))
          app.stored.add(event.id)
          if (step) app.commit(payment, step)
          app.background.delete(running)
        }
        const running = work()
        app.background.add(running)
      },
    }),
  },
]

/** Bugs of calling. */
const calling = [
  {
    name: 'retries_400s_for_ever',
    what: 'takes a refusal for an outage that passes',
    expectedVerdicts: ['relies_on'],
    patch: (_app, careful) => ({
      isFinal: (status) => status !== 400 && careful.isFinal(status),
      isLater: (status) => status === 400 || careful.isLater(status),
      pauseBefore: () => 1_000,
      call: (method, path, body, options) =>
        careful.call(method, path, body, { ...options, tries: Number.POSITIVE_INFINITY }),
    }),
  },
  {
    name: 'ignores_retry_after',
    what: 'calls again at once, although the service asks for a pause',
    expectedVerdicts: ['retry_storm'],
    // What it reads again later anyway is not called again at once.
    faults: 'respond_429',
    patch: () => ({ retryAfter: () => 0, pauseBefore: () => 0 }),
  },
  {
    name: 'has_no_timeout',
    what: 'waits for an answer without an end',
    expectedVerdicts: ['hung'],
    patch: () => ({ signal: () => undefined }),
  },
  {
    name: 'expects_an_entry_for_each_document',
    what: 'takes an HTTP error for a document as a crash of the service',
    expectedVerdicts: ['relies_on'],
    patch: () => ({
      kycRefused(error) {
        throw error
      },
    }),
  },
]

const part = (bugs, ...faults) =>
  bugs.map((bug) => ({ points: 'first', depth: 1, faults: faults.join(), ...bug }))

/**
 * `name`, what the bug is, the verdicts that show it, the functions that differ, and how the bench sweeps it: with the faults that
 * concern this part of the integration (as `--only` takes them), at which points, and how many together.
 */
export const BUGS = [
  ...part(paying, 'createTransaction', 'reference_id'),
  ...part(
    checking,
    ...['kyc_failed', 'kyc_pending', 'bank_failed', 'bank_pending', 'unverified_account'],
  ),
  ...part(
    following,
    ...['payment_failed', 'payment_late', 'payment_stuck', 'payment_reversed', 'webhook_delivery'],
    ...['new_words', 'missing_remark', 'history_utr', 'utr_form', 'utr_of_success', 'user_history'],
  ),
  ...part(receiving, 'transaction.processing', 'transaction.success'),
  ...part(
    calling,
    ...['listUserTransactionHistory', 'token', 'error_body', 'trailing_slash', 'ifsc_case'],
    ...['amount_as_text', 'unknown_request_fields', 'kyc_bad_document'],
  ),
]
