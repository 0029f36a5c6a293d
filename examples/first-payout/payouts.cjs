// The code to test: it makes a payment and reads its status.
const { setTimeout: sleep } = require('node:timers/promises')

const TRIES = 3
const TIMEOUT_MS = 5_000
const MAX_WAIT_MS = 2_000

async function call({ url, token }, path, body) {
  const response = await fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const { data, error, message } = await response.json()
  if (response.ok) return data
  const waitMs = 1_000 * Number(response.headers.get('retry-after') ?? 0)
  throw Object.assign(new Error(message), { status: response.status, code: error, waitMs })
}

/** Returns the payment with this reference from the payer's history, or undefined. */
async function find(service, { from, reference }) {
  for (let page = 1; ; page++) {
    const path = `/transaction/history/user/${from}?page=${page}`
    const { transactions, total_pages: pages } = await call(service, path)
    const found = transactions.find((one) => one.client_transaction_id === reference)
    if (found || page >= pages) return found
  }
}

/**
 * Pays once, also if a response is lost or the program is restarted: before each try it looks for the payment in the history.
 * If it throws after the last try, call it again later.
 */
async function pay(service, payout) {
  const { from, to, account, amount, reference } = payout
  const body = { from_user_id: from, to_user_id: to, benif_bank_id: account, amount }
  let failure
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      if (await find(service, payout)) return
      await call(service, '/transaction', { ...body, reference_id: reference })
      return
    } catch (error) {
      if (error.status < 500 && error.status !== 429) throw error
      failure = error
      if (error.waitMs > MAX_WAIT_MS) break
      await sleep(error.waitMs ?? 0)
    }
  }
  throw failure
}

/** Returns `PENDING`, `PROCESSING`, `SUCCESS` or `FAILED`. */
async function statusOf(service, payout) {
  const { status } = await find(service, payout)
  return status
}

module.exports = { pay, statusOf }
