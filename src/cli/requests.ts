import { remoteCommand } from './remote.ts'
import { table } from './table.ts'
import { jsonObject, queryOf, wholeNumber } from './values.ts'

type Listed = {
  total: number
  dropped: number
  requests: {
    at: string
    method: string
    path: string
    operation: string | null
    status: number | null
    duration_ms: number
    rule: string | null
  }[]
}

const MAX_COUNTED = 1_000_000
const MAX_SHOWN = 1_000

const LIMIT = { limit: ['N', 'at most so many, 50 unless told'] } as const
const limitOf = (limit: unknown) =>
  limit === undefined ? undefined : wholeNumber('--limit', String(limit), 1, MAX_SHOWN)

function listedText({ total, dropped, requests }: Listed): string {
  const rows = requests.map((one) => [
    one.at,
    one.method,
    one.path,
    one.operation,
    one.status ?? 'broken',
    one.duration_ms,
    one.rule,
  ])
  const left = total - requests.length
  return (
    table(
      ['at', 'method', 'path', 'operation', 'status', 'ms', 'rule'],
      rows,
      'no request like this',
    ) +
    (left > 0 ? `… and ${left} more; --limit shows more\n` : '') +
    (dropped > 0 ? `${dropped} older ones are no longer in the log\n` : '')
  )
}

const counts = {
  exactly: ['N', 'so many, no more and no fewer'],
  'at-least': ['N', 'so many or more; 1 unless told'],
  'at-most': ['N', 'so many or fewer'],
} as const

export const requests = remoteCommand({
  name: 'requests',
  summary: 'what a running sandbox was sent: list, find, count, verify, clear',
  verbs: {
    '': {
      takes: '',
      does: 'the calls of the service, newest first',
      flags: {
        operation: ['ID', 'only those of this operation, such as createTransaction'],
        method: ['METHOD', 'only those with this method'],
        path: ['PATH', 'only those of this path, such as /v1/users'],
        status: ['STATUS', 'only those with this status'],
        ...LIMIT,
      },
      async run(api, _words, { operation, method, path, status, limit }) {
        const query = queryOf({ operation, method, path, status, limit: limitOf(limit) })
        const answer: Listed = await api('GET', `/requests${query}`)
        return { answer, text: listedText(answer) }
      },
    },
    find: {
      takes: 'MATCH',
      does: 'those that match: JSON with operation, method, path, status and the parts of a rule’s when',
      flags: LIMIT,
      async run(api, [text], { limit }) {
        const most = limitOf(limit)
        const answer: Listed = await api('POST', '/requests/find', {
          match: jsonObject('requests find', text!),
          ...(most !== undefined && { limit: most }),
        })
        return { answer, text: listedText(answer) }
      },
    },
    count: {
      takes: 'MATCH',
      does: 'how many match',
      async run(api, [text]) {
        const match = jsonObject('requests count', text!)
        const answer: { count: number } = await api('POST', '/requests/count', { match })
        return { answer, text: `${answer.count}\n` }
      },
    },
    verify: {
      takes: 'MATCH',
      does: 'hold how many match against what is wanted; exit 1 with the nearest misses',
      flags: counts,
      async run(api, [text], flags) {
        const wanted = (name: keyof typeof counts) =>
          flags[name] === undefined
            ? undefined
            : wholeNumber(`--${name}`, String(flags[name]), 0, MAX_COUNTED)
        // What is undefined is not sent.
        const answer: { count: number } = await api('POST', '/requests/verify', {
          match: jsonObject('requests verify', text!),
          exactly: wanted('exactly'),
          at_least: wanted('at-least'),
          at_most: wanted('at-most'),
        })
        return { answer, text: `as wanted: ${answer.count} found\n` }
      },
    },
    clear: {
      takes: '',
      does: 'empty the log',
      async run(api) {
        const answer: { deleted: number } = await api('DELETE', '/requests')
        return { answer, text: `${answer.deleted} deleted\n` }
      },
    },
  },
  examples: [
    'requests --status 422 --limit 10',
    'requests find \'{"operation": "createTransaction", "body": {"amount": {"gt": 1000}}}\'',
    'requests verify \'{"operation": "createUser"}\' --exactly 1',
    'requests clear',
  ],
})
