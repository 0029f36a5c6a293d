import * as z from 'zod'
import type { errorBody } from '../../assumptions/responses.ts'
import type { Operation } from '../../http/endpoint.ts'
import { ErrorResponse } from '../../model/errors.ts'
import { isObject } from '../../model/formats.ts'
import { pagesOf } from '../../model/paging.ts'
import { valueAt } from '../../model/validation-errors.ts'
import type { Source } from './findings.ts'

export type Row = Readonly<Record<string, unknown>>

export function rowsAt(body: unknown, ...path: readonly string[]): Row[] {
  const list = valueAt(body, path)
  return Array.isArray(list) ? list.filter(isObject) : []
}

export function pageSpecOf(op: Operation) {
  const data = (op.response as z.ZodObject).shape['data'] as z.ZodObject
  const names = Object.keys(data.shape)
  const rows = names.find((name) => data.shape[name] instanceof z.ZodArray)!
  const row = (data.shape[rows] as z.ZodArray).element as z.ZodObject
  return {
    op,
    /** The field names of the list, of its total count, and of a row's id. */
    rows,
    total: names.find((name) => name.startsWith('total_') && name !== 'total_pages')!,
    id: Object.keys(row.shape)[0]!,
    /** The number of rows of a page without the parameter `limit`. */
    defaultLimit: Number((op.query!.parse({}) as Row)['limit']),
    /** Whether the contract defines `limit` and its default; otherwise both are defaults of the sandbox. */
    isLimitInContract: op.tokenNeeded,
  }
}
type PageSpec = ReturnType<typeof pageSpecOf>

/** Which row is first, by `created_at`; `same` if all have the same time. ISO 8601 times in UTC sort as strings. */
export function orderOf(rows: readonly Row[]): 'newest' | 'oldest' | 'same' | 'none' {
  const times = rows.map((row) => row['created_at']).filter((time) => typeof time === 'string')
  const [isNewest, isOldest] = [-1, 1].map((sign) =>
    times.every((time, i) => i === 0 || time === times[i - 1] || time > times[i - 1]! === sign > 0),
  )
  if (isNewest) return isOldest ? 'same' : 'newest'
  return isOldest ? 'oldest' : 'none'
}

export function checkPage(
  source: Source,
  { rows: name, total: totalName, id, defaultLimit, isLimitInContract }: PageSpec,
  body: unknown,
  requested: { page?: number; limit?: number },
): Row[] {
  const rows = rowsAt(body, 'data', name)
  const at = (field: string) => valueAt(body, ['data', field])
  const [page, limit, total, pages] = ['page', 'limit', totalName, 'total_pages'].map(at)
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value)
  const add = (isInContract: boolean, field: string, expected: string, found: string) => {
    const addFinding = isInContract ? source.differs : source.note
    addFinding(`data.${field}`, expected, found)
  }
  // Only the history endpoints define the default of `page`.
  const [wantedPage, wantedLimit] = [requested.page ?? 1, requested.limit ?? defaultLimit]
  const isPageKnown = requested.page !== undefined || isLimitInContract
  if (isCount(page) && isPageKnown && page !== wantedPage)
    add(true, 'page', `${wantedPage}`, `${page}`)
  if (isCount(limit) && limit !== wantedLimit)
    add(isLimitInContract, 'limit', `${wantedLimit}`, `${limit}`)
  const list = at(name)
  if (!isCount(page) || !isCount(limit) || !isCount(total) || !Array.isArray(list)) return rows
  if (page >= 1 && limit >= 1) {
    const expected = Math.max(0, Math.min(limit, total - (page - 1) * limit))
    const counts = `with ${totalName} ${total}, page ${page}, limit ${limit}`
    const found = `a list of ${list.length} ${counts}`
    if (list.length !== expected) add(true, name, 'the number of rows that its counts imply', found)
    // The contract does not define whether an empty list has 0 or 1 pages.
    const isInContract = !(total === 0 && pages === 1)
    if (isCount(pages) && pages !== pagesOf(total, limit))
      add(isInContract, 'total_pages', 'the number that its counts imply', `${pages} ${counts}`)
  }
  const ids = rows.map((row) => row[id]).filter((one) => typeof one === 'string')
  if (new Set(ids).size < ids.length)
    source.differs(`data.${name}[].${id}`, 'unique ids', 'a duplicate id')
  if (orderOf(rows) === 'none')
    source.note(`data.${name}[].created_at`, 'sorted by time', 'another order')
  return rows
}

/** Checks that a second page does not repeat the first one. Single rows can repeat, if rows were added in between. */
export function checkNextPage(
  source: Source,
  { rows: name, id }: PageSpec,
  first: readonly Row[],
  second: readonly Row[],
): void {
  const known = new Set(first.map((row) => row[id]))
  if (second.length > 0 && second.every((row) => known.has(row[id])))
    source.differs(`data.${name}`, 'other rows than page 1', 'the same rows')
}

export type ErrorFormName = keyof (typeof errorBody)['readings']

/** Which form the body of an error has; `undefined` if it has none of the readings. `body` is its JSON value, if it is JSON. */
export function errorFormOf(text: string, body: unknown): ErrorFormName | undefined {
  if (ErrorResponse.safeParse(body).success) return 'envelope'
  if (isObject(body))
    return typeof body['message'] === 'string' && Object.keys(body).length === 1
      ? 'message_only'
      : undefined
  return /^\s*<(?:!doctype html|html)\b/i.test(text) ? 'html' : undefined
}
