import t from 'tap'
import { GUARDED, pluck, start, TOKEN } from '../helper.ts'

const MEERA = '00000000-0000-4000-8000-000000000002'

/** Every list: its path, the fields of its rows and its total, its default limit, and how many rows it has. */
const LISTS = [
  ['/v1/users', 'users', 'user_id', 'total_users', 50, 110],
  ['/v1/transaction', 'transactions', 'transaction_id', 'total_transation', 10, 48],
  ['/v1/transaction/history', 'transactions', 'id', 'total_transactions', 10, 48],
  [`/v1/transaction/history/user/${MEERA}`, 'transactions', 'id', 'total_transactions', 10, 35],
] as const

for (const [path, rows, id, count, limit, all] of LISTS) {
  t.test(`${path} is cut into pages`, async (t) => {
    const { get } = await start(t, GUARDED)
    const page = async (query: string) => {
      const { status, body } = await get(`${path}${query}`, TOKEN)
      return status === 200 ? body.data : { status, ...body }
    }
    const pagesKey = rows === 'users' ? {} : { total_pages: 0 }
    const shape = ['page', 'limit', count, rows, ...Object.keys(pagesKey)].sort()

    const table: [query: string, page: number, limit: number, rows: number][] = [
      ['', 1, limit, limit],
      ['?page=2', 2, limit, Math.min(limit, all - limit)],
      ['?page=1&limit=1', 1, 1, 1],
      [`?limit=${all}`, 1, Math.min(all, 100), Math.min(all, 100)],
      ['?limit=100', 1, 100, Math.min(all, 100)],
      ['?limit=101', 1, 100, Math.min(all, 100)],
      ['?limit=999999999', 1, 100, Math.min(all, 100)],
      ['?limit=99999999999999999999999', 1, 100, Math.min(all, 100)],
      ['?page=2&limit=100', 2, 100, Math.max(0, all - 100)],
      ['?page=1000', 1000, limit, 0],
      ['?page=999999999', 999_999_999, limit, 0],
      ['?page=99999999999', 99_999_999_999, limit, 0],
      ['?page=99999999999999999999', 10 ** 12, limit, 0],
      ['?unknown=1', 1, limit, limit],
    ]
    for (const [query, number, size, length] of table) {
      const data = await page(query)
      t.strictSame(Object.keys(data).sort(), shape, `${query} has the fields of the interface`)
      t.match(data, { page: number, limit: size, [count]: all }, query)
      t.equal(data[rows].length, length, query)
      if (rows !== 'users') t.equal(data.total_pages, Math.ceil(all / size))
    }

    const size = Math.ceil(all / 3)
    const found = []
    for (const number of [1, 2, 3]) {
      const data = await page(`?page=${number}&limit=${size}`)
      found.push(...data[rows])
    }
    t.equal(new Set(found.map((row) => row[id])).size, all, 'three pages hold each row once')
    const times = found.map((row) => row.created_at)
    t.strictSame(times, [...times].sort().reverse(), 'newest first')

    for (const bad of ['0', '-1', '1.5', 'x', '1e1', '%201', 'NaN', '१', '0x1', 'null']) {
      for (const name of ['page', 'limit']) {
        const answer = await page(`?${name}=${bad}`)
        t.match(
          answer,
          { status: false, code: 400, error: 'validation_failed', errors: [{ field: name }] },
          `${name}=${bad}`,
        )
      }
    }
    t.strictSame(pluck((await page('?page=abc')).errors, 'field'), ['page'], 'returned once')
    for (const twice of ['?page=1&page=2', '?limit=1&limit=2', '?page[]=1', '?page=1,2']) {
      const answer = await page(twice)
      if (twice.includes('[')) t.equal(answer.page, 1, 'another parameter')
      else t.match(answer, { code: 400, error: 'validation_failed' }, twice)
    }
  })
}
