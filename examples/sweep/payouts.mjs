// Pays a salary. It has three bugs: docs/sweep.md finds and mends them.
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

/** Sends the payment. If no response arrives, it sends it again. */
async function send(service, { from, to, account, amount, reference }) {
  const body = { from_user_id: from, to_user_id: to, benif_bank_id: account, amount }
  for (let tries = 1; ; tries++) {
    try {
      const [payment] = await call(service, '/transaction', { ...body, remark: reference })
      return payment
    } catch (error) {
      const isRefused = error.status !== undefined
      if (isRefused || tries === TRIES) throw error
    }
  }
}

/** Returns `paid` or `failed`. */
export async function pay(service, payout) {
  const payment = await send(service, payout)
  return payment.transaction_status === 'failed' ? 'failed' : 'paid'
}
