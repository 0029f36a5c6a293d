import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { OPERATIONS } from '../../src/app.ts'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { ASHA, ROHAN, ROHANS_ACCOUNT, start, TOKEN } from '../helper.ts'

const FILE = join(PACKAGE_ROOT, 'src/http/openapi-examples.json')
const SECRET = 'whsec_c2VjcmV0LW9mLWFuLWV4YW1wbGU='

/** A call of each operation, in an order in which each finds what it needs. */
const CALLS: [id: string, method: 'GET' | 'POST' | 'PUT', url: string, body?: object][] = [
  ['createUser', 'POST', '/user', { email: 'asha.new@example.com', mobile: '+919812345678' }],
  ['getUser', 'GET', `/user/${ASHA}`],
  ['listUsers', 'GET', '/users?limit=2'],
  [
    'submitKyc',
    'POST',
    '/kyc',
    {
      user_id: ASHA,
      kyc: [
        {
          document_type: 'tid',
          document_name: 'pan',
          document_number: 'XXXPX1234A',
          nameOnCard: 'Asha Rao',
          dateOfBirth: '17-05-1990',
          Nationality: 'Indian',
        },
      ],
    },
  ],
  ['getKyc', 'GET', `/kyc/${ROHAN}`],
  [
    'addBankAccount',
    'POST',
    '/bank',
    { user_id: ASHA, account_number: '000011112222', ifsc_code: 'HDFC0000001' },
  ],
  ['listBankAccounts', 'GET', `/bank/${ROHAN}`],
  [
    'createTransaction',
    'POST',
    '/transaction',
    {
      from_user_id: ASHA,
      to_user_id: ROHAN,
      benif_bank_id: ROHANS_ACCOUNT,
      amount: 1500.5,
      reference_id: 'invoice-17',
    },
  ],
  ['listTransactions', 'GET', '/transaction?limit=2'],
  ['getTransaction', 'GET', '/transaction/{transaction_id}'],
  ['listTransactionHistory', 'GET', '/transaction/history?limit=2'],
  ['listUserTransactionHistory', 'GET', `/transaction/history/user/${ASHA}?limit=2`],
  ['getClientProfile', 'GET', '/client/profile'],
  [
    'createWebhook',
    'POST',
    '/clientWebhook',
    { url: 'http://127.0.0.1:3000/hooks', webhook_secret: SECRET },
  ],
  ['getWebhook', 'GET', '/clientWebhook'],
  ['updateWebhook', 'PUT', '/clientWebhook', { url: 'http://127.0.0.1:3000/payouts' }],
]

t.test('the examples of the document are what the sandbox answers', async (t) => {
  const { call } = await start(t)
  const answers: Record<string, unknown> = {}
  let transaction_id = ''
  for (const [id, method, url, body] of CALLS) {
    const { status, body: answer } = await call(
      method,
      `/v1${url.replace('{transaction_id}', transaction_id)}`,
      body,
      TOKEN,
    )
    t.equal(status, OPERATIONS.find((op) => op.id === id)!.status, id)
    if (id === 'createTransaction') transaction_id = answer.data[0].transaction_id
    answers[id] = answer
  }
  if (process.env['UPDATE_DOCS']) writeFileSync(FILE, `${JSON.stringify(answers, null, 2)}\n`)
  t.strictSame(JSON.parse(readFileSync(FILE, 'utf8')), answers)
})

t.test('each operation shows one', (t) => {
  const { paths } = openApiDocument(OPERATIONS, '/v1') as {
    // biome-ignore lint/suspicious/noExplicitAny: a document of many forms.
    paths: Record<string, Record<string, any>>
  }
  for (const path of Object.values(paths))
    for (const { operationId, responses } of Object.values(path)) {
      const [status] = Object.keys(responses)
      t.ok(responses[status!].content['application/json'].example, operationId)
    }
  t.end()
})
