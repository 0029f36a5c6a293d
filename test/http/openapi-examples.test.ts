import t from 'tap'
import { SERVICE_REQUESTS } from '../../src/http/openapi-requests.ts'
import { serviceDocument } from '../../src/http/openapi-service.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { start, TOKEN } from '../helper.ts'

/** The operations in an order in which each has the rows that it needs, with the query that limits its list. */
const CALLS: [id: string, query?: string][] = [
  ['createUser'],
  ['getUser'],
  ['listUsers'],
  ['submitKyc'],
  ['getKyc'],
  ['addBankAccount'],
  ['listBankAccounts'],
  ['createTransaction'],
  ['listTransactions'],
  ['getTransaction'],
  ['listTransactionHistory', '?limit=2'],
  ['listUserTransactionHistory', '?limit=2'],
  ['getClientProfile'],
  ['createWebhook'],
  ['getWebhook'],
  ['updateWebhook'],
]

// biome-ignore lint/suspicious/noExplicitAny: a document of many forms.
type Paths = Record<string, Record<string, any>>

t.test('the example of each operation is the response of the sandbox', async (t) => {
  const { call } = await start(t, { assume: { largest_page: '2' } })
  const { paths } = (await serviceDocument(OPERATIONS)) as unknown as { paths: Paths }
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  t.equal(operations.length, CALLS.length)
  for (const [id, query = ''] of CALLS) {
    const { method, url, status: wanted } = OPERATIONS.find((op) => op.id === id)!
    const { params = {}, body } = SERVICE_REQUESTS[id] ?? {}
    const path = url.replace(/:(\w+)/g, (_, name: string) => params[name]!)
    const { status, body: answer } = await call(method, `/v1${path}${query}`, body, TOKEN)
    t.equal(status, wanted, id)
    const { responses } = operations.find(({ operationId }) => operationId === id)!
    t.strictSame(responses[status].content['application/json'].example, answer, id)
  }
})
