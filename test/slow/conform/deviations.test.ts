import t from 'tap'
import { conform } from '../../../src/tools/conform/conform.ts'
import type { Json } from '../calls.ts'
import { type Alter, held, lines, places, proxy, sandbox } from './proxy.ts'

t.test('the sandbox itself is clean, by reads and by writes', async (t) => {
  const { url, token } = await sandbox(t)
  const read = await conform({ base: url, token, write: false })
  t.match(read, { ok: true, against: url, write: false, more: 0 })
  t.strictSame([read.differs, read.notes, read.created], [[], [], []])
  t.equal(read.checked.length, 9)
  t.strictSame(
    read.unchecked.map(({ endpoint, reason }) => `${endpoint}: ${reason}`),
    [
      'GET /clientWebhook: no webhook is set',
      ...['POST /user', 'POST /kyc', 'POST /bank', 'POST /transaction'].map(
        (one) => `${one}: checked with --write only`,
      ),
      'POST /clientWebhook: checked with --write only',
      'PUT /clientWebhook: checked with --write only',
    ],
  )
  const written = await conform({ base: url, token, write: true })
  t.strictSame([written.differs, written.notes, written.unchecked], [[], [], []])
  t.equal(written.checked.length, 16)
  t.strictSame(
    written.created.map(({ endpoint }) => endpoint),
    [
      'POST /user',
      'POST /user',
      'POST /kyc',
      'POST /kyc',
      'POST /bank',
      'POST /transaction',
      'POST /clientWebhook',
      // What measures reference_id, duplicate_user, own_request_fields, refused_bank_account and kyc_bad_document.
      'POST /user',
      'POST /transaction',
      'POST /user',
      'POST /bank',
      'POST /user',
      'POST /kyc',
    ],
  )
  const again = await conform({ base: url, token, write: true })
  t.strictSame([again.differs, again.notes], [[], []], 'and a second time')
})

t.test('reads change nothing', async (t) => {
  const { url, token, admin } = await sandbox(t)
  const before = await admin.state.get()
  await conform({ base: url, token, write: false })
  const { requests } = await admin.requests.list({ limit: 1_000 })
  t.ok(requests.length > 30)
  t.strictSame([...new Set(requests.map(({ method }) => method))], ['GET'])
  const after = await admin.state.get()
  t.strictSame(JSON.stringify(after.tables), JSON.stringify(before.tables))
})

t.test('without a token, calls that need one are listed, and are no difference', async (t) => {
  const { url } = await sandbox(t)
  const report = await conform({ base: url, token: undefined, write: false })
  t.strictSame([report.differs, report.notes], [[], []])
  const wanting = report.unchecked.filter(
    ({ reason }) => reason === 'the service requires a token: use --token',
  )
  t.strictSame(
    wanting.map(({ endpoint }) => endpoint),
    ['GET /transaction/history', 'GET /transaction/history/user/:userId', 'GET /client/profile'],
  )
  const wrong = await conform({ base: url, token: 'sbx_wrong', write: false })
  t.match(wrong, { ok: false })
  t.ok(lines(wrong.differs).includes('GET /users HTTP status: 200; 401 "unauthorized"'))
  t.notMatch(JSON.stringify(wrong), 'sbx_wrong')
})

t.test(
  'a list that was always empty is reported, because none of its rows was checked',
  async (t) => {
    const report = await held(t, {
      'GET /bank/:userId': ({ status, body }) => {
        if (status === 200) body.data = []
      },
    })
    t.equal(report.ok, true)
    t.match(
      report.unchecked.filter(({ endpoint }) => endpoint.startsWith('GET')),
      [
        { endpoint: 'GET /clientWebhook' },
        { endpoint: 'GET /bank/:userId', reason: 'data[] was always empty' },
      ],
    )
  },
)

/** A change of each 2xx answer's body, and the fields that must be named. */
type Case = {
  at: string
  what: string
  differs?: string[]
  notes?: string[]
  alter: Alter
  /** No other change may be there: it needs what other endpoints say. */
  isAlone?: boolean
}

/** A change of an object, or the values that some of its fields get. */
type Fields = { readonly [name: string]: unknown }
type Change = ((one: Json, i: number) => void) | Fields
const apply = (change: Change, one: Json, i = 0) =>
  typeof change === 'function' ? change(one, i) : Object.assign(one, change)
const data = (change: ((data: Json, url: URL) => void) | Fields): Alter => {
  return ({ status, body }, { url }) => {
    if (status >= 300) return
    if (typeof change === 'function') change(body.data, url)
    else Object.assign(body.data, change)
  }
}
const each = (change: Change) =>
  data((list: Json) => {
    for (const [i, row] of (list.users ?? list.transactions ?? list).entries())
      apply(change, row, i)
  })
const onStatus =
  (wanted: number, change: Alter): Alter =>
  (passing, request) => {
    if (passing.status === wanted) change(passing, request)
  }

/** The first page, kept to be sent again. */
let firstPage: unknown[] = []

const KYC = 'data.response.data.kycData[]'
const RESULT = `${KYC}.metadata.response.data.result`
const records = (change: Change) =>
  data(({ response }: Json) => {
    for (const record of response.data.kycData) apply(change, record)
  })
const ROW = 'data.transactions[]'

const CASES: Case[] = [
  {
    at: 'GET /users',
    what: 'user types, a page size and an order of its own',
    notes: ['data.users[].user_type', 'data.limit', 'data.users[].created_at'],
    alter: data((list, url) => {
      for (const user of list.users) user.user_type = 'company'
      list.users = [...list.users.slice(5, 30), ...list.users.slice(0, 5), ...list.users.slice(30)]
      const page = Number(url.searchParams.get('page'))
      if (page !== 1 && page !== 2) return
      list.limit = 40
      list.users = list.users.slice(0, 40)
    }),
  },
  {
    at: 'GET /users',
    what: 'another number of rows than its counts tell',
    differs: ['data.users'],
    alter: data((list) => list.users.pop()),
  },
  {
    at: 'GET /users',
    what: 'always the first page',
    differs: ['data.page', 'data.users'],
    alter: data((list, url) => {
      if (url.searchParams.get('page') === '1') firstPage = list.users
      if (url.searchParams.get('page') !== '2') return
      list.page = 1
      list.users = firstPage
    }),
  },
  {
    at: 'GET /users',
    what: 'a user twice',
    differs: ['data.users[].user_id'],
    alter: data(({ users }) => {
      if (users.length > 1) users[1] = users[0]
    }),
  },
  {
    at: 'GET /users',
    what: 'a limit that is not heeded, and pages that are refused',
    notes: ['HTTP status'],
    alter: (passing, { url }) => {
      const { body } = passing
      if (url.searchParams.has('limit')) body.data.users = [...body.data.users, body.data.users[0]]
      if (url.searchParams.get('page') === '1000000') passing.status = 404
      if (url.searchParams.get('page') === '0') passing.status = 422
    },
  },
  {
    at: 'GET /users',
    what: 'another envelope',
    differs: ['status', 'code', 'message'],
    alter: ({ status, body }) => {
      if (status === 200) Object.assign(body, { status: 'ok', code: '200', message: null })
    },
  },
  {
    at: 'GET /user/:userId',
    what: 'another user',
    differs: ['data.user_id'],
    alter: data({ user_id: '00000000-0000-4000-8000-000000000099' }),
  },
  {
    at: 'GET /user/:userId',
    what: 'an id that is no UUID, and an instant without milliseconds',
    differs: ['data.client_id', 'data.updated_at'],
    alter: data({ client_id: 'c-1', updated_at: '2026-01-01T00:00:00Z' }),
  },
  {
    at: 'GET /user/:userId',
    what: 'errors of its own',
    notes: ['errors', 'error', 'code', 'detail'],
    alter: onStatus(404, ({ body, headers }) => {
      delete body.errors
      Object.assign(body, { error: 'no_user', code: 1404, detail: 'x' })
      headers['content-type'] = 'application/problem+json'
    }),
  },
  {
    at: 'GET /user/:userId',
    what: 'other statuses of refusals',
    notes: ['HTTP status'],
    alter: (passing) => {
      if (passing.status === 404) passing.status = 410
      if (passing.status === 400) passing.status = 200
    },
  },
  {
    at: 'GET /user/:userId',
    what: 'an error page in HTML, and an error with only a message',
    alter: (passing) => {
      if (passing.status === 404) {
        passing.headers['content-type'] = 'text/html'
        passing.text = '<html>'
      }
      if (passing.status === 400) passing.text = '{"message":"x"}'
    },
  },
  ...['no such user', ''].map((text) => ({
    at: 'GET /user/:userId',
    what: `an error that is no JSON and no page: "${text}"`,
    notes: ['body'],
    alter: onStatus(404, (passing) => {
      passing.text = text
    }),
  })),
  {
    at: 'GET /user/:userId',
    what: 'a server that fails',
    differs: ['HTTP status'],
    alter: onStatus(200, (passing) => {
      passing.status = 500
    }),
  },
  {
    at: 'GET /kyc/:userId',
    what: 'words and ids of its own',
    notes: [
      `${KYC}.kyc_status`,
      `${KYC}.verified_by`,
      `${KYC}.vp`,
      `${KYC}.document_number`,
      `${KYC}.metadata.response.data.metaData.transactionId`,
    ],
    alter: records((record) => {
      record.kyc_status = 'approved'
      record.verified_by = 'bureau'
      record.vp = { score: 1 }
      record.document_number = record.document_number.replaceAll('X', '*')
      if (record.metadata) record.metadata.response.data.metaData.transactionId = 't-1'
    }),
  },
  {
    at: 'GET /kyc/:userId',
    what: 'a PAN’s result with a whole number and without a field',
    differs: [`${RESULT}.pan`, `${RESULT}.panStatus`],
    alter: records(({ metadata }) => {
      const result = metadata?.response.data.result
      if (!result) return
      // Masked by nobody, though it looks so.
      result.pan = 'XXXPX1234A'
      delete result.panStatus
    }),
  },
  {
    at: 'GET /kyc/:userId',
    what: 'records of somebody else, without the result of the system, and a field of another type',
    differs: [`${KYC}.user_id`, `${KYC}.metadata`, `${KYC}.dob`, `${KYC}.vp`],
    alter: records((record) => {
      record.user_id = '00000000-0000-4000-8000-000000000099'
      if (record.verified_by === 'system') record.metadata = null
      record.dob = '15-08-1990'
      delete record.vp
    }),
  },
  {
    at: 'GET /bank/:userId',
    what: 'masks and states of its own',
    notes: ['data[].account_number', 'data[].ifsc_code', 'data[].bank_status'],
    alter: each({ account_number: '****0003', ifsc_code: 'ICIC0XXX003', bank_status: 'verified' }),
  },
  {
    at: 'GET /bank/:userId',
    what: 'no masks',
    differs: ['data[].account_number', 'data[].ifsc_code', 'data[].user_id'],
    alter: each({
      account_number: '999912345678',
      ifsc_code: 'ICIC0000003',
      user_id: '00000000-0000-4000-8000-000000000099',
    }),
  },
  {
    at: 'GET /transaction',
    what: 'an empty list that has a page',
    notes: ['data.total_pages'],
    alter: data((list) => {
      Object.assign(list, { total_transation: 0, transactions: [], total_pages: 1 })
    }),
  },
  {
    at: 'GET /transaction/history',
    what: 'any type is taken, and debit is not',
    differs: ['HTTP status'],
    notes: ['HTTP status'],
    alter: (passing, { url }) => {
      if (url.search === '?type=debit') passing.status = 400
      if (url.search === '?type=no-such') passing.status = 200
    },
  },
  {
    at: 'GET /transaction',
    what: 'types and currencies of its own',
    notes: [`${ROW}.transaction_type`, `${ROW}.currency_code`, `${ROW}.transaction_status`],
    alter: each({
      transaction_type: 'refund',
      currency_code: 'rupees',
      transaction_status: 'reversed',
    }),
  },
  {
    at: 'GET /transaction',
    what: 'upper case, a UTR too early, amounts as numbers, another account',
    differs: [
      `${ROW}.transaction_status`,
      `${ROW}.amount`,
      `${ROW}.benif_bank.user_id`,
      `${ROW}.benif_bank.bank_id`,
      `${ROW}.utr`,
    ],
    alter: each((row) => {
      if (row.transaction_status === 'pending') row.utr = 'XXXXXXXX1234'
      else row.transaction_status = row.transaction_status.toUpperCase()
      row.amount = Number(row.amount)
      row.benif_bank.user_id = row.from_user_id
      row.benif_bank.bank_id = row.from_user_id
    }),
  },
  {
    at: 'GET /transaction/:transaction_id',
    what: 'a whole UTR and one decimal',
    isAlone: true,
    differs: ['data[].utr', 'data[].amount'],
    alter: each((row) => {
      if (row.utr) row.utr = '600112345678'
      row.amount = row.amount.slice(0, -1)
    }),
  },
  {
    at: 'GET /transaction/:transaction_id',
    what: 'an empty list',
    differs: ['data'],
    alter: onStatus(200, ({ body }) => {
      body.data = []
    }),
  },
  {
    at: 'GET /transaction/history',
    what: 'what the contract leaves open',
    notes: [`${ROW}.metadata`, 'HTTP status'],
    alter: (passing) => {
      if (passing.status === 401) passing.status = 403
      if (passing.status !== 200) return
      for (const row of passing.body.data.transactions) {
        row.metadata = 'closed'
        row.remark = null
      }
    },
  },
  {
    at: 'GET /transaction/history',
    what: 'no WWW-Authenticate',
    notes: ['WWW-Authenticate'],
    alter: ({ headers }) => {
      delete headers['www-authenticate']
    },
  },
  {
    at: 'GET /transaction/history',
    what: 'other statuses, long remarks, a UTR before completion',
    differs: [`${ROW}.status`, `${ROW}.remark`, `${ROW}.utr`],
    alter: each((row, i) => {
      if (row.status === 'PENDING') row.utr = '600112345678'
      else if (i === 0) row.status = 'DONE'
      row.remark = 'x'.repeat(51)
    }),
  },
  {
    at: 'GET /transaction/history',
    what: 'another page to begin with, and a limit of its own',
    differs: ['data.page', 'data.limit', 'data.total_pages', 'data.transactions'],
    alter: data((list, { search }) => {
      if (search === '?limit=1') list.limit = 2
      if (search === '') list.page = 0
    }),
  },
  {
    at: 'GET /transaction/history/user/:userId',
    what: 'records of others',
    differs: [`${ROW}.user_id`],
    alter: each({ user_id: '00000000-0000-4000-8000-000000000099' }),
  },
  {
    at: 'GET /client/profile',
    what: 'states and configurations of its own',
    notes: ['data.status', 'data.ClientConfigurations[]'],
    alter: data({ status: 'suspended', ClientConfigurations: ['x'] }),
  },
  {
    at: 'GET /client/profile',
    what: 'answers without a token, and of other types',
    differs: ['HTTP status', 'data.email_verified', 'data.ClientConfigurations'],
    alter: (passing) => {
      if (passing.status === 401) passing.status = 200
      else Object.assign(passing.body.data, { email_verified: 'yes', ClientConfigurations: {} })
    },
  },
]

/** Groups of changes that one run of the check can meet together: each at another endpoint, and all of them differences or none. */
function together(cases: readonly Case[]): Case[][] {
  const groups: Case[][] = []
  for (const one of cases) {
    const fits = (group: Case[]) =>
      !one.isAlone &&
      group.every(
        ({ at, differs, isAlone }) => !isAlone && at !== one.at && !differs === !one.differs,
      )
    const group = groups.find(fits)
    if (group) group.push(one)
    else groups.push([one])
  }
  return groups
}

t.test('a change is named at its endpoint and field', async (t) => {
  const { url, token } = await sandbox(t)
  const known = new Map()
  for (const group of together(CASES)) {
    const alterations = Object.fromEntries(group.map(({ at, alter }) => [at, alter]))
    const report = await conform({
      base: await proxy(t, url, alterations, known),
      token,
      write: false,
    })
    const named = (field: 'differs' | 'notes') =>
      group.flatMap((one) => (one[field] ?? []).map((name) => `${one.at} ${name}`)).sort()
    const what = group.map((one) => `${one.at}: ${one.what}`).join('; ')
    t.strictSame(places(report.differs), named('differs'), what)
    t.strictSame(places(report.notes), named('notes'), what)
    t.equal(report.ok, group[0]!.differs === undefined)
  }
})
