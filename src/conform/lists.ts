import * as z from 'zod'
import type { Operation } from '../http/operation.ts'
import { valueAt } from '../model/issues.ts'
import { pagesOf } from '../model/list.ts'
import type { Findings, Place } from './findings.ts'

/** An object of an answer. */
export type Row = Readonly<Record<string, unknown>>

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The objects of a list in an answer; nothing where there is no such list. */
export function rowsAt(body: unknown, ...path: readonly string[]): Row[] {
  const list = valueAt(body, path)
  return Array.isArray(list) ? list.filter(isRow) : []
}

/** What an operation's schemas say of its pages. */
export type Pages = {
  op: Operation
  /** Names of the list, of its count, and of a row's id. */
  rows: string
  total: string
  id: string
  /** Rows of a page where no limit is asked for. */
  usualLimit: number
  /** The contract shows `limit` as a parameter, with its default; elsewhere both are ours. */
  limitShown: boolean
}

/** The pages of a list operation, from its schemas. */
export function pagesIn(op: Operation): Pages {
  const data = (op.response as z.ZodObject).shape['data'] as z.ZodObject
  const names = Object.keys(data.shape)
  const rows = names.find((name) => data.shape[name] instanceof z.ZodArray)!
  const row = (data.shape[rows] as z.ZodArray).element as z.ZodObject
  return {
    op,
    rows,
    total: names.find((name) => name.startsWith('total_') && name !== 'total_pages')!,
    id: Object.keys(row.shape)[0]!,
    usualLimit: Number((op.query!.parse({}) as Row)['limit']),
    limitShown: op.tokenNeeded,
  }
}

/** Whether the newest stands in front: instants in this form compare as texts. */
function isNewestFirst(rows: readonly Row[]): boolean {
  const times = rows.map((row) => row['created_at']).filter((time) => typeof time === 'string')
  return times.every((time, i) => i === 0 || times[i - 1]! >= time)
}

/** Holds one page against what was asked for and against its own counts. */
export function holdPage(
  findings: Findings,
  place: Place,
  { rows: name, total: totalName, id, usualLimit, limitShown }: Pages,
  body: unknown,
  asked: { page?: number; limit?: number },
): Row[] {
  const rows = rowsAt(body, 'data', name)
  const at = (field: string) => valueAt(body, ['data', field])
  const [page, limit, total, pages] = ['page', 'limit', totalName, 'total_pages'].map(at)
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value)
  const ifWrong = (
    right: boolean,
    isLaw: boolean,
    field: string,
    wanted: string,
    found: string,
  ) => {
    const tell = isLaw ? findings.differs : findings.note
    if (!right) tell(place, `data.${field}`, wanted, found)
  }
  // Without a page asked for, only the history endpoints say that it is the first.
  if (isCount(page) && (asked.page !== undefined || limitShown))
    ifWrong(page === (asked.page ?? 1), true, 'page', `${asked.page ?? 1}`, `${page}`)
  if (isCount(limit)) {
    const wanted = asked.limit ?? usualLimit
    ifWrong(limit === wanted, limitShown, 'limit', `${wanted}`, `${limit}`)
  }
  const list = at(name)
  if (!isCount(page) || !isCount(limit) || !isCount(total) || !Array.isArray(list)) return rows
  if (page >= 1 && limit >= 1) {
    const wanted = Math.max(0, Math.min(limit, total - (page - 1) * limit))
    const counts = `with ${totalName} ${total}, page ${page}, limit ${limit}`
    const found = `a list of ${list.length} ${counts}`
    ifWrong(list.length === wanted, true, name, 'as many as its counts tell', found)
    if (isCount(pages)) {
      // Of an empty list the contract does not say whether it has a page.
      const isLaw = !(total === 0 && pages === 1)
      const right = pages === pagesOf(total, limit)
      ifWrong(right, isLaw, 'total_pages', 'as its counts tell', `${pages} ${counts}`)
    }
  }
  const ids = rows.map((row) => row[id]).filter((one) => typeof one === 'string')
  if (new Set(ids).size < ids.length)
    findings.differs(place, `data.${name}[].${id}`, 'each once', 'one of them twice')
  if (!isNewestFirst(rows))
    findings.note(place, `data.${name}[].created_at`, 'newest first', 'an older one in front')
  return rows
}

/** Holds a second page against the first: it has other rows, unless some came in between. */
export function holdNext(
  findings: Findings,
  place: Place,
  { rows: name, id }: Pages,
  first: readonly Row[],
  second: readonly Row[],
): void {
  const known = new Set(first.map((row) => row[id]))
  if (second.length > 0 && second.every((row) => known.has(row[id])))
    findings.differs(place, `data.${name}`, 'other rows than page 1', 'the same rows')
}
