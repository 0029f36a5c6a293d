// Users, their KYC, their bank accounts, and the webhook. A lost answer is looked up before the call is repeated.
import { Refused, Unclear } from './http.mjs'

const ROUNDS = 4
const SECOND = 1_000
const MINUTE = 60 * SECOND
/** The pauses between two looks at a check that is not decided. */
const CHECK_PAUSES = [2, 10, 60, 600, 1_800, 7_200, 86_400].map((seconds) => seconds * SECOND)
const BETWEEN_ROUNDS = MINUTE / 2

// What is looked at again anyway needs no second try at once.
const ONE_TRY = { tries: 1 }

const GOOD = ['success', 'verified', 'approved', 'completed']
const BAD = ['failed', 'rejected', 'declined']

export const onboarding = (app) => ({
  /** Whether a check is `good`, `bad`, or `open`: also with a word that is not known. */
  outcomeOf(word) {
    if (GOOD.includes(word)) return 'good'
    return BAD.includes(word) ? 'bad' : 'open'
  },

  /** Creates something once: after an answer that is unclear or says that it exists, it looks first. */
  async createOnce(create, find) {
    for (let round = 1; ; round++) {
      let problem
      try {
        return await create()
      } catch (error) {
        problem = error
        if (error instanceof Refused && error.status !== 409) throw error
      }
      await app.wait(BETWEEN_ROUNDS)
      const found = await find().catch((error) => {
        if (!(error instanceof Unclear)) throw error
      })
      if (found) return found
      if (round === ROUNDS) throw problem
    }
  },

  findUser: async (email) =>
    (await app.rowsOf('/users', 'users')).find((user) => user.email === email),

  async user({ email, mobile }) {
    const create = async () => (await app.call('POST', '/user', { email, mobile })).data
    return (await app.createOnce(create, () => app.findUser(email))).user_id
  },

  /** The outcome of a check: looks at it until it is decided. */
  async decided(first, look) {
    let outcome = first
    for (const pause of CHECK_PAUSES) {
      if (outcome !== 'open') break
      await app.wait(pause)
      try {
        outcome = await look()
      } catch (error) {
        if (!(error instanceof Unclear)) throw error
      }
    }
    return outcome
  },

  /** The newest record of this document. */
  async findKyc(userId, document, options) {
    const { data } = await app.call('GET', `/kyc/${userId}`, undefined, options)
    return (data.response.data.kycData ?? [])
      .filter((record) => record.document_type === document.document_type)
      .sort((a, b) => (a.created_at < b.created_at ? 1 : -1))[0]
  },

  /** The outcome of a new KYC record, from its entry in the answer. */
  kycOutcome: (_answer, entry) => app.outcomeOf(entry.data?.kyc_status),

  /** The outcome if the service refuses the document with an HTTP error. */
  kycRefused(error) {
    if (error instanceof Refused && error.status === 400) return 'bad'
    throw error
  },

  async kyc(userId, document) {
    const outcomeOf = (record) => app.outcomeOf(record?.kyc_status)
    const submit = async () => {
      const answer = await app.call('POST', '/kyc', { user_id: userId, kyc: [document] })
      return { outcome: app.kycOutcome(answer, answer.data[0]) }
    }
    const find = async () => {
      const record = await app.findKyc(userId, document)
      return record && { outcome: outcomeOf(record) }
    }
    try {
      const { outcome } = await app.createOnce(submit, find)
      return await app.decided(outcome, async () =>
        outcomeOf(await app.findKyc(userId, document, ONE_TRY)),
      )
    } catch (error) {
      return app.kycRefused(error)
    }
  },

  /** What is sent as IFSC. */
  ifscOf: (code) => code,

  /** The outcome of the check of an account, from the answer that created it. */
  accountOutcome(record) {
    const outcome = app.outcomeOf(record.bank_status)
    const { bankTxnStatus } = record.metadata?.response?.data?.result ?? {}
    return outcome === 'good' && bankTxnStatus === false ? 'bad' : outcome
  },

  async findAccount(userId, { account_number: number, ifsc_code: ifsc }, options) {
    const { data } = await app.call('GET', `/bank/${userId}`, undefined, options)
    return (data ?? []).findLast(
      (one) =>
        one.account_number.slice(-4) === number.slice(-4) &&
        one.ifsc_code.slice(-3) === ifsc.slice(-3),
    )
  },

  /** Adds an account, and says whether it may be paid to. */
  async account(userId, account) {
    const body = { user_id: userId, ...account, ifsc_code: app.ifscOf(account.ifsc_code) }
    const record = await app.createOnce(
      async () => (await app.call('POST', '/bank', body)).data.data,
      () => app.findAccount(userId, account),
    )
    const outcome = await app.decided(app.accountOutcome(record), async () =>
      app.outcomeOf((await app.findAccount(userId, account, ONE_TRY))?.bank_status),
    )
    return {
      bank_id: record.bank_id,
      user_id: userId,
      last4: account.account_number.slice(-4),
      outcome,
    }
  },

  /** Whether this error says that there is no such thing. */
  isMissing: (error) => error instanceof Refused && error.status === 404,

  /** Registers the receiver. Without webhooks the work goes on: polling finds each status. */
  async registerWebhook(url) {
    const body = { url, webhook_secret: app.secret }
    for (let round = 1; round <= ROUNDS; round++) {
      try {
        const isThere = await app.call('GET', '/clientWebhook').then(
          (answer) => Boolean(answer?.data),
          (error) => {
            if (app.isMissing(error)) return false
            throw error
          },
        )
        await app.call(isThere ? 'PUT' : 'POST', '/clientWebhook', body)
        return
      } catch (error) {
        if (!(error instanceof Unclear) && !(error instanceof Refused && error.status === 409))
          throw error
        app.log(`the webhook is not registered: ${error.message}`)
      }
      await app.wait(BETWEEN_ROUNDS)
    }
  },
})
