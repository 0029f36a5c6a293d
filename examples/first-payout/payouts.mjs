// The code that is to be tested: it makes a payment and says how it went.
const TRIES = 3

async function call({ url, token }, path, { body, key } = {}) {
  const answer = await fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { data, error, message } = await answer.json()
  if (answer.ok) return data
  throw Object.assign(new Error(message), { status: answer.status, word: error })
}

/** Pays once, however often it has to ask: the reference is the Idempotency-Key. Answers with the payment's id. */
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

/** `pending`, `success` or `failed`. */
export async function statusOf(service, id) {
  const [payment] = await call(service, `/transaction/${id}`)
  return payment.transaction_status
}
