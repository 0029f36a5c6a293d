// The code to test: it makes a payment and reads its status.
const TRIES = 3

async function call({ url, token }, path, { body, key } = {}) {
  const response = await fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { data, error, message } = await response.json()
  if (response.ok) return data
  throw Object.assign(new Error(message), { status: response.status, code: error })
}

/** Pays exactly once, also after a retry: the reference is the Idempotency-Key. Returns the payment's id. */
export async function pay(service, { from, to, account, amount, reference }) {
  const body = { from_user_id: from, to_user_id: to, benif_bank_id: account, amount }
  for (let tries = 1; ; tries++) {
    try {
      const [payment] = await call(service, '/transaction', { body, key: reference })
      return payment.transaction_id
    } catch (error) {
      const isFinal = error.status < 500
      if (isFinal || tries === TRIES) throw error
    }
  }
}

/** Returns `pending`, `success` or `failed`. */
export async function statusOf(service, id) {
  const [payment] = await call(service, `/transaction/${id}`)
  return payment.transaction_status
}
