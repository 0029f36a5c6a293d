// Pays a salary, without the three bugs of payouts.mjs.
import { setTimeout as sleep } from 'node:timers/promises'

const TRIES = 2
const TIMEOUT_MS = 6_000

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
  if (!response.ok) throw Object.assign(new Error('refused'), { status: response.status })
  const { data } = await response.json()
  return data
}

/** Returns the payment with this reference, or undefined. */
async function find(service, reference) {
  for (let page = 1; ; page++) {
    const list = await call(service, `/transaction?page=${page}`)
    const found = list.transactions.find((one) => one.reference_id === reference)
    if (found || page >= list.total_pages) return found
  }
}

/** Sends the payment. If no response arrives, it sends it again, but only if it is not there. */
async function send(service, { from, to, account, amount, reference }) {
  const body = { from_user_id: from, to_user_id: to, benif_bank_id: account, amount }
  for (let tries = 1; ; tries++) {
    try {
      const [payment] = await call(service, '/transaction', { ...body, reference_id: reference })
      return payment
    } catch (error) {
      const isRefused = error.status < 500
      if (isRefused || tries === TRIES) throw error
    }
    const payment = await find(service, reference)
    if (payment) return payment
  }
}

/** Returns `paid` or `failed` when the payment has ended, or `open` if it has not ended in time. */
export async function pay(service, payout) {
  const { transaction_id: id } = await send(service, payout)
  for (let waitMs = 10; waitMs < 3_000; waitMs *= 2) {
    const [payment] = await call(service, `/transaction/${id}`)
    if (payment.transaction_status === 'success') return 'paid'
    if (payment.transaction_status === 'failed') return 'failed'
    await sleep(waitMs)
  }
  return 'open'
}
