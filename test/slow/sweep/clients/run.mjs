// The test command of a payroll: node run.mjs [--bug NAME]. It pays five wages, checks its own books, and ends with 0 or 1.
// It runs against PAYOUT_SANDBOX_URL, and moves the clock with PAYOUT_SANDBOX_ADMIN_URL where it waits.
import { parseArgs } from 'node:util'
import { BUGS } from './bugs.mjs'
import { http } from './http.mjs'
import { ledger } from './ledger.mjs'
import { onboarding } from './onboarding.mjs'
import { payments } from './payments.mjs'
import { receiver } from './receiver.mjs'

// The client of the example data for which the service checks the KYC of a payer.
const CLIENT = 'kyc-checked'
const TOKEN = 'sbx_kyc_token'
const SHORTEST_WAIT_MS = 1
/** The wages that nobody must pay: to a blocked account, and from a payer whose check fails. */
const REFUSED = [4, 5]

/** Time: the clock of the sandbox where there is one, else the real one. */
function timeOf(app, adminUrl, adminToken) {
  if (!adminUrl)
    return {
      now: () => Date.now(),
      wait: (ms) => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined),
    }
  let passed = 0
  const headers = {
    'content-type': 'application/json',
    ...(adminToken && { authorization: `Bearer ${adminToken}` }),
  }
  return {
    now: () => passed,
    async wait(ms) {
      if (!(ms >= SHORTEST_WAIT_MS)) return
      const body = JSON.stringify({ by: `${Math.ceil(ms)}ms` })
      const advance = () => fetch(`${adminUrl}/clock/advance`, { method: 'POST', headers, body })
      // The server can close an idle connection just now. Time that passes twice does no harm.
      const response = await advance().catch(advance)
      if (!response.ok) throw new Error(`the clock did not move: ${await response.text()}`)
      await response.text()
      passed += Math.ceil(ms)
      await Promise.all(app.background)
    },
  }
}

function createApp(bug) {
  const { PAYOUT_SANDBOX_URL, PAYOUT_SANDBOX_ADMIN_URL, PAYOUT_SANDBOX_ADMIN_TOKEN } = process.env
  const ofClient = (url) => url?.replace(/\/(v1|__admin)$/, `/@${CLIENT}/$1`)
  const app = {
    url: ofClient(PAYOUT_SANDBOX_URL),
    token: TOKEN,
    secret: 'whsec_cGF5cm9sbC1vZi1hLXNtYWxsLWZpcm0=',
    log: (text) => console.log(text),
  }
  const parts = [http, onboarding, ledger, payments, receiver].map((part) => part(app))
  const time = timeOf(app, ofClient(PAYOUT_SANDBOX_ADMIN_URL), PAYOUT_SANDBOX_ADMIN_TOKEN)
  Object.assign(app, time, ...parts)
  return Object.assign(app, bug?.patch(app, { ...app }))
}

const documentOf = (name, number) => ({
  document_type: 'tid',
  document_name: name,
  document_number: number,
  dateOfBirth: '01-02-1990',
  Nationality: 'Indian',
  nameOnCard: 'Asha Rao',
})

const payee = async (app, name, mobile, account_number) => {
  const userId = await app.user({ email: `${name}@payroll.example`, mobile })
  return app.account(userId, { account_number, ifsc_code: 'HDFC0001234' })
}

async function payer(app, name, mobile, document) {
  const userId = await app.user({ email: `${name}@payroll.example`, mobile })
  return { user_id: userId, outcome: await app.kyc(userId, document) }
}

function check(isTrue, problem) {
  if (!isTrue) throw new Error(problem)
}

/** What the books say, as a list of problems. */
function problemsOf(app, wages, repeated) {
  const done = new Map([...app.payments].map((payment) => [payment.reference, payment]))
  const last = (reference) => done.get(`${reference}-again`) ?? done.get(reference)
  const finals = wages.map(({ reference }) => last(reference))
  const open = finals.filter((one) => one.state !== 'refused' && !app.isPaid(one))
  const paid = finals.filter((one) => one.state !== 'refused' && app.isPaid(one))
  const expected = paid.reduce((sum, { wage }) => sum + app.moneyOf(wage.amount), 0)
  const slips = (one) => app.payslips.filter((reference) => reference === one.reference).length
  return [
    ...finals
      .filter((one, at) => one.state === 'refused' && !REFUSED.includes(at))
      .map((one) => `${one.reference} was refused`),
    ...open.map((one) => `${one.reference} is not paid: ${one.state}, ${one.status}`),
    ...paid
      .filter((one) => one.paidAt !== undefined && slips(one) !== 1)
      .map((one) => `${one.reference} has ${slips(one)} payslips`),
    ...(open.length === 0 && app.spent !== expected
      ? [`${app.spent} was spent, and ${expected} is right`]
      : []),
    ...repeated
      .filter((one) => one.status === 'FAILED')
      .map((one) => `${one.reference} failed again`),
  ]
}

async function main(app) {
  await app.registerWebhook(await app.startReceiver())
  const office = await payer(app, 'office', '9876500001', documentOf('pan', 'ABCPE1234F'))
  const branch = await payer(app, 'branch', '9876500002', documentOf('passport', 'ABCPE1234G'))
  check(app.mayPayFrom(office), `the KYC of the office is ${office.outcome}`)
  const rohan = await payee(app, 'rohan', '9876500003', '123456789012')
  const meera = await payee(app, 'meera', '9876500004', '123456789013')
  const blocked = await payee(app, 'zed', '9876500005', '999900000002')
  for (const account of [rohan, meera])
    check(app.mayPayTo(account), `the account ${account.last4} is ${account.outcome}`)

  const wages = [
    { from: office, to: rohan, amount: '1500.10' },
    { from: office, to: meera, amount: '600000.30' },
    { from: office, to: rohan, amount: '2200.20' },
    // The same amount to the same account: a bonus.
    { from: office, to: rohan, amount: '1500.10' },
    { from: office, to: blocked, amount: '1000.00' },
    { from: branch, to: rohan, amount: '500.00' },
    { from: office, to: meera, amount: '19.99' },
  ].map((wage, at) => ({ wage, reference: `wage-2026-01-${at + 1}` }))
  const batch = await app.pay(wages)
  await app.follow(batch)
  const repeated = await app.pay(app.toRepeat(batch))
  await app.follow(repeated)

  const refused = REFUSED.map((at) => batch[at])
  check(
    refused.every(({ state }) => state === 'refused'),
    'money went where it must not go',
  )
  return problemsOf(app, wages, repeated)
}

const { values } = parseArgs({ options: { bug: { type: 'string' } } })
const bug = BUGS.find(({ name }) => name === values.bug)
if (values.bug !== undefined && bug === undefined)
  throw new Error(`${values.bug} is none of the bugs: ${BUGS.map(({ name }) => name).join(', ')}`)
try {
  const problems = await main(createApp(bug))
  for (const problem of problems) console.error(problem)
  process.exit(problems.length > 0 ? 1 : 0)
} catch (error) {
  console.error(error)
  process.exit(1)
}
