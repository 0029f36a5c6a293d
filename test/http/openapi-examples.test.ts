import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { SERVICE_REQUESTS } from '../../src/http/openapi-requests.ts'
import { serviceDocument } from '../../src/http/openapi-service.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { start, TOKEN } from '../helper.ts'

const FILE = join(PACKAGE_ROOT, 'src/http/openapi-examples.json')
/** The operations in an order in which each has the rows that it needs, with the query that limits its list. */
const CALLS: [id: string, query?: string][] = [
  ['createUser'],
  ['getUser'],
  ['listUsers', '?limit=2'],
  ['submitKyc'],
  ['getKyc'],
  ['addBankAccount'],
  ['listBankAccounts'],
  ['createTransaction'],
  ['listTransactions', '?limit=2'],
  ['getTransaction'],
  ['listTransactionHistory', '?limit=2'],
  ['listUserTransactionHistory', '?limit=2'],
  ['getClientProfile'],
  ['createWebhook'],
  ['getWebhook'],
  ['updateWebhook'],
]

t.test('the examples of the document are the responses of the sandbox', async (t) => {
  const { call } = await start(t)
  const answers: Record<string, unknown> = {}
  for (const [id, query = ''] of CALLS) {
    const { method, url, status: wanted } = OPERATIONS.find((op) => op.id === id)!
    const { params = {}, body } = SERVICE_REQUESTS[id] ?? {}
    const path = url.replace(/:(\w+)/g, (_, name: string) => params[name]!)
    const { status, body: answer } = await call(method, `/v1${path}${query}`, body, TOKEN)
    t.equal(status, wanted, id)
    answers[id] = answer
  }
  if (process.env['UPDATE_DOCS']) writeFileSync(FILE, `${JSON.stringify(answers, null, 2)}\n`)
  t.strictSame(JSON.parse(readFileSync(FILE, 'utf8')), answers)
})

t.test('each operation has an example', async (t) => {
  const { paths } = (await serviceDocument(OPERATIONS)) as unknown as {
    // biome-ignore lint/suspicious/noExplicitAny: a document of many forms.
    paths: Record<string, Record<string, any>>
  }
  for (const path of Object.values(paths))
    for (const { operationId, responses } of Object.values(path)) {
      const [status] = Object.keys(responses)
      t.ok(responses[status!].content['application/json'].example, operationId)
    }
})
