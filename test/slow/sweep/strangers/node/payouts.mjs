// Pays people: a journal that is synced to disk, jobs with leases, webhooks as hints, and polling.
import assert from 'node:assert/strict'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { after, before, test } from 'node:test'

const { BUG, PAYOUT_SANDBOX_URL: SERVICE, PAYOUT_SANDBOX_TOKEN: TOKEN } = process.env
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
const RANK = { new: 0, pending: 1, processing: 2, success: 3, failed: 4 }
const VERIFIED = ['success', 'verified']
const REFUSED = ['failed', 'rejected']
const later = (why, more) => Object.assign(new Error(why), { retryable: true, ...more })
const jobOf = (kind, ref, due) => ({ id: `${kind}:${ref}`, kind, ref, due, tries: 0 })
const one = ({ data: [{ transaction_id, ...rest }] }) => ({ transaction_id, ...rest })
const toPaise = (amount) => Math.round(Number(amount) * 100)

function backOff({ wait = 0, status }, tries) {
  if (BUG === 'ignores_retry_after' && status) return 200
  return Math.max(wait, Math.min(SECOND * 2 ** tries, HOUR))
}
function isGenuine(headers, body, secret) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers
  if (!id || !signatures || !(Math.abs(Date.now() / SECOND - time) <= 300)) return false
  const hmac = createHmac('sha256', secret).update(`${id}.${time}.`).update(body)
  const right = Buffer.from(`v1,${hmac.digest('base64')}`)
  const given = signatures.split(' ').map((signature) => Buffer.from(signature, 'latin1'))
  return given.some((one) => one.length === right.length && timingSafeEqual(one, right))
}

class PayoutDesk {
  orders = new Map()
  jobs = new Map()
  read = (path, pick) => this.poll(() => this.call('GET', path, undefined, pick), 8)
  orderOf = (tx) => [...this.orders.values()].find(({ id }) => id && id === tx.transaction_id)
  constructor(journal, clock) {
    Object.assign(this, { journal, clock })
    const text = fs.existsSync(journal) ? fs.readFileSync(journal, 'utf8') : ''
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    if (whole !== text) fs.truncateSync(journal, Buffer.byteLength(whole))
    for (const line of whole.split('\n').filter(Boolean)) this.apply(JSON.parse(line))
    if (BUG === 'forgets_attempt') for (const order of this.orders.values()) order.tries = 0
  }

  append(entry) {
    fs.appendFileSync(this.journal, `${JSON.stringify(entry)}\n`, { flush: true }) // fsync
    this.apply(entry)
  }

  apply({ order, post = 0, drop, job }) {
    if (order) this.orders.set(order.ref, { booked: 0, ...this.orders.get(order.ref), ...order })
    if (order) this.orders.get(order.ref).booked -= post
    this.jobs.delete(drop)
    if (job) this.jobs.set(job.id, job)
  }

  async call(method, path, json, pick = ({ data }) => data) {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const [body, signal, failure] = [JSON.stringify(json), AbortSignal.timeout(5 * SECOND), {}]
    try {
      const response = await fetch(SERVICE + path, { method, headers, body, signal })
      const text = await response.text()
      if (response.ok) return pick(JSON.parse(text))
      const retryAfter = response.headers.get('retry-after')
      failure.wait = retryAfter * SECOND || Date.parse(retryAfter) - Date.now() || 0
      failure.status = response.status
      failure.retryable = /^(404|408|409|425|429|5..)$/.test(response.status)
    } catch (error) {
      failure.timedOut = error.name === 'TimeoutError'
    }
    throw later(`${method} ${path}: ${failure.status ?? 'no answer'}`, failure)
  }

  poll(ask, most = 60, tries = 0) {
    return ask().catch(async (error) => {
      if (!error.retryable || tries === most) throw error
      await this.clock.sleep(backOff(error, tries))
      return this.poll(ask, most, tries + 1)
    })
  }

  async *transactions() {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const data = await this.read(`/transaction?page=${page}`)
      yield* data.transactions
      if (BUG !== 'first_page_only') pages = data.total_pages
    }
  }

  async onboard({ user_id, documents, account }) {
    const kycData = ({ data }) => data.response.data.kycData
    const addKyc = (kyc) => this.call('POST', '/kyc', { user_id, kyc })
    const addBank = ([missing]) => this.call('POST', '/bank', { user_id, ...missing })
    await this.poll(() => this.verify(`/kyc/${user_id}`, documents, addKyc, kycData))
    const [{ bank_id }] = await this.poll(() => this.verify(`/bank/${user_id}`, [account], addBank))
    return { to: user_id, account: bank_id }
  }

  async verify(path, items, add, pick) {
    const nameOf = (row) => row.document_type ?? row.account_number.slice(-4)
    const rows = await this.read(path, pick)
    rows.sort((a, b) => a.created_at.localeCompare(b.created_at))
    const latest = new Map(rows.map((row) => [nameOf(row), row]))
    const missing = items.filter((item) => !latest.has(nameOf(item)))
    const added = missing.length > 0 && (await add(missing))
    if (BUG === 'created_is_verified' && added) return [added.data]
    const found = items.map((item) => latest.get(nameOf(item)))
    if (BUG === 'first_entry_only') found.splice(1)
    const words = found.map((row) => row?.kyc_status ?? row?.bank_status)
    if (words.some((word) => REFUSED.includes(word)))
      throw later(path, { retryable: false, refused: true })
    if (!words.every((word) => VERIFIED.includes(word))) throw later(`${path} is not verified`)
    return found
  }

  submit({ ref, amount, ...parties }) {
    if (this.orders.has(ref)) return
    const [paise, placedAt] = [toPaise(amount), this.clock.now()]
    const order = { ref, ...parties, paise, placedAt, status: 'new', tries: 0 }
    this.append({ order, post: -paise, job: jobOf('pay', ref, placedAt) })
  }

  async run(until) {
    for (;;) {
      const [[job], now] = [[...this.jobs.values()].sort((a, b) => a.due - b.due), this.clock.now()]
      if (job?.due <= now) await this.work(job)
      else if (now >= until) return
      else await this.clock.sleep(Math.min(job?.due ?? until, until) - now)
    }
  }

  async work(job) {
    const lease = { ...job, due: this.clock.now() + MINUTE }
    this.append({ job: lease })
    const failure = await this[job.kind](this.orders.get(job.ref)).catch((error) => error)
    if (failure && !failure.retryable) throw failure
    if (this.jobs.get(job.id) !== lease) return
    const due = this.clock.now() + backOff(failure ?? {}, job.tries)
    this.append(failure ? { job: { ...job, due, tries: job.tries + 1 } } : { drop: job.id })
  }

  async pay(order) {
    const { ref, from, to, account, paise, tries, sentAt } = order
    if (tries > 0 && BUG !== 'resend_blind') {
      for await (const tx of this.transactions())
        if (this.isPaymentOf(order, tx)) return this.adopt(order, tx)
      const wait = sentAt + MINUTE - this.clock.now() // it may still be on its way
      if (wait > 0) throw later(`${ref} has no answer`, { wait })
    }
    this.append({ order: { ref, tries: tries + 1, sentAt: this.clock.now() } })
    const parties = { from_user_id: from, to_user_id: to, benif_bank_id: account }
    const body = { ...parties, amount: paise / 100, reference_id: ref }
    try {
      this.adopt(order, await this.call('POST', '/transaction', body, one))
    } catch (error) {
      if (BUG === 'timeout_fails' && error.timedOut) error.status = 422
      if (![400, 404, 422].includes(error.status)) throw error
      this.book(order, 'failed')
    }
  }

  isPaymentOf({ ref, account, paise, placedAt }, tx) {
    if (tx.reference_id || this.orderOf(tx)) return tx.reference_id === ref
    const alike = tx.benif_bank_id === account && toPaise(tx.amount) === paise
    return alike && Date.parse(tx.created_at) >= placedAt - MINUTE
  }

  adopt({ ref, account, paise }, { transaction_id: id, benif_bank_id, amount }) {
    if (benif_bank_id !== account || toPaise(amount) !== paise) throw new Error(`${ref} differs`)
    const job = jobOf('check', ref, this.clock.now() + 2 * SECOND)
    this.append({ order: { ref, id }, drop: `pay:${ref}`, job })
  }

  async check(order) {
    this.book(order, (await this.read(`/transaction/${order.id}`, one)).transaction_status)
    const { ref, status, changedAt } = this.orders.get(order.ref)
    if (BUG === 'webhook_only' && status !== 'success') return
    const wait = RANK[status] >= RANK.success ? changedAt + 26 * HOUR - this.clock.now() : 1
    if (wait > 0) throw later(`${ref} may still change`, { wait })
  }

  book({ ref, paise, status: old }, word) {
    let status = Object.hasOwn(RANK, word) ? word : 'pending'
    if (BUG === 'unknown_word_fails' && !['pending', 'success'].includes(word)) status = 'failed'
    const late = old === 'failed' && status === 'success' && !/^(signat|unknown)/.test(BUG)
    if (RANK[status] <= RANK[old] && !late) return
    const refund = BUG === 'whole_rupees_refund' ? Math.trunc(paise / 100) * 100 : paise
    const order = { ref, status, changedAt: this.clock.now() }
    this.append({ order, post: late ? -paise : status === 'failed' ? refund : 0 })
  }

  async reconcile() {
    const missing = new Map(this.orders)
    for await (const tx of this.transactions()) {
      const order = this.orderOf(tx)
      if (missing.delete(order?.ref)) this.book(order, tx.transaction_status)
    }
    return [...missing.keys()]
  }

  async listen() {
    this.secret = randomBytes(24).toString('hex')
    this.server = createServer(async (request, response) => {
      const read = request.toArray().then((chunks) => Buffer.concat(chunks))
      const answer = read.then((body) => this.receive(request.headers, body))
      response.writeHead(await answer.catch(() => 500)).end()
    })
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${this.server.address().port}/events`
    const hook = { url, webhook_secret: this.secret }
    const save = (method) => this.call(method, '/clientWebhook', hook, Boolean)
    const replace = (error) => (error.status === 409 ? save('PUT') : Promise.reject(error))
    await this.poll(() => save('POST').catch(replace))
  }

  receive(headers, body) {
    const genuine = isGenuine(headers, body, this.secret)
    if (!genuine && BUG !== 'signature_logged') return 401
    const { type, data } = JSON.parse(body)
    const order = this.orderOf(data)
    if (!order) return 204
    const [ref, word] = [order.ref, type.split('.')[1]]
    const post = word === 'failed' ? order.paise : 0
    if (!genuine) this.book(order, word)
    else if (BUG === 'last_event_wins') this.append({ order: { ref, status: word }, post })
    else this.append({ job: jobOf('check', ref, this.clock.now()) })
    return 204
  }
}

const userId = (number) => `00000000-0000-4000-8000-0000000000${number}`
const CARD = { dateOfBirth: '15-08-1990', Nationality: 'Indian', nameOnCard: 'Kabir Singh' }
const DOCUMENTS = [
  { document_type: 'tid', document_name: 'pan', document_number: 'XXXPX1234A', ...CARD },
  { document_type: 'pid', document_name: 'aadhar', document_number: '999999990019', ...CARD },
]
async function admin(path, json) {
  const headers = { 'content-type': 'application/json' }
  const init = json && { method: 'POST', headers, body: JSON.stringify(json) }
  const response = await fetch(process.env.PAYOUT_SANDBOX_ADMIN_URL + path, init)
  assert.ok(response.ok, `${path}: ${response.status}`)
  return response.json()
}

const folder = process.env.PAYOUT_SANDBOX_RUN_DIR ?? fs.mkdtempSync(`${tmpdir()}/payouts-`)
const journal = `${folder}/journal.jsonl`
if (process.argv[2] === 'books') {
  console.log('reference,transaction_id,amount,status,booked')
  for (const { ref, id, paise, status, booked } of new PayoutDesk(journal).orders.values()) {
    const moved = RANK[status] >= RANK.success ? [status, booked / 100] : ['pending', 0] // is only set aside
    console.log([ref, id, paise / 100, ...moved].join())
  }
  process.exit()
}
let [now, desk] = [Date.parse((await admin('/clock')).now)]
const start = now
async function sleep(ms) {
  now = Date.parse((await admin('/clock/advance', { by: `${ms}ms` })).now)
}
async function open() {
  desk?.server.close()
  desk = new PayoutDesk(journal, { now: () => now, sleep })
  await desk.listen()
}
async function payTo(user, account_number, ifsc_code, amount, documents = []) {
  const person = { user_id: userId(user), account: { account_number, ifsc_code }, documents }
  const payee = await desk.onboard(person).catch((error) => assert.ok(error.refused, error))
  if (payee) desk.submit({ ref: `${amount} to ${user}`, amount, from: userId('01'), ...payee })
  await desk.run(now)
  fs.appendFileSync(journal, '{"order":{"ref":"80') // what a crash can leave
  await open()
  await desk.run(now + 30 * HOUR)
  const { transactions } = await admin('/transactions?limit=100')
  const sent = transactions.filter((tx) => Date.parse(tx.created_at) >= start)
  const made = sent.map((tx) => [tx.benif_bank_id, toPaise(tx.amount), tx.transaction_status])
  const orders = [...desk.orders.values()].map((one) => [one.account, one.paise, one.status])
  assert.deepEqual(orders.sort(), made.sort())
  for (const { paise, status, booked } of desk.orders.values())
    assert.equal(booked, status === 'failed' ? 0 : paise)
  assert.deepEqual(await desk.reconcile(), [])
  const { kyc, bank_accounts } = await admin(`/users/${person.user_id}`)
  const words = [...kyc, ...bank_accounts].map((row) => row.kyc_status ?? row.bank_status)
  if (payee) for (const word of words) assert.ok(VERIFIED.includes(word), word)
}
before(open)
after(() => desk.server.close())
test('pays a salary', () => payTo('03', '999910000003', 'ICIC0000003', '1500.50'))
test('takes back what fails', () => payTo('10', '999900000101', 'HDFC0000001', '250'))
test('checks a new payee', () => payTo('05', '999912345678', 'HDFC0000001', '800', DOCUMENTS))
test('pays the same payee again', () => payTo('03', '999910000003', 'ICIC0000003', '42'))
