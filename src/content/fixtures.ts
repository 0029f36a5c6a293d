import { createHash } from 'node:crypto'
import { type Problem, problemText } from '../model/errors.ts'
import {
  FIXTURE_ROWS,
  type FixtureNoun,
  type FixtureSet,
  type Fixtures,
} from '../model/fixtures.ts'
import { isObject } from '../model/formats.ts'
import { fieldOf, issuesAt, LIST_KNOWN_KEYS, parseSent } from '../model/validation-errors.ts'
import { didYouMean } from '../model/words.ts'
import type { BaseRows } from '../store/worlds.ts'
import type { Rows } from '../tables/rows.ts'
import { checkRows, type NoteProblem } from './check-rows.ts'
import { complete, type FixtureRows, rowsOf, rowsOfClient } from './fixture-rows.ts'
import type { JsonPath } from './json-text.ts'

export const NOUNS = Object.keys(FIXTURE_ROWS) as FixtureNoun[]
/** The unchecked rows of one noun, with their file and their path in it. */
export type RawTable = { noun: FixtureNoun; file: string; path: JsonPath; rows: unknown }

/** The rows with which a client starts, by table, and a key that identifies the content. */
export type StartRows = {
  key: string
  rows: BaseRows<Rows>
  /** For rows of a state file, which has clock, scenario and profile too: what the rows do not say. */
  state?: { draws: number; start: object }
}

export type FixtureWorlds = Map<string, StartRows>

const MAX_PROBLEMS = 20

/** A problem of a set: `at` is its path in the file, until its place is known. */
export type FixtureProblem = Problem & { at?: JsonPath }

/** An invalid fixture set or state. The message has one line per problem, with file, position and path. */
export class BadFixtures extends Error {
  readonly problems: readonly FixtureProblem[]
  constructor(problems: readonly FixtureProblem[]) {
    super(problems.map(problemText).join('\n'))
    this.name = 'BadFixtures'
    this.problems = problems
  }
}

/** A problem at a path whose place is not known yet; without a path, it is one of the file itself. */
export const problemAt = (file: string, message: string, at?: JsonPath): FixtureProblem => ({
  file,
  line: 0,
  column: 0,
  path: fieldOf(at ?? []),
  message,
  ...(at && { at }),
})

function createCheck() {
  const problems: FixtureProblem[] = []
  const places = new Map<object, { file: string; path: JsonPath }>()
  const note = (file: string, path: JsonPath, message: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push(problemAt(file, message, path))
  }
  return {
    problems,
    note(row: object, field: string, message: string) {
      const { file, path } = places.get(row)!
      note(file, [...path, field], message)
    },
    rows({ noun, file, path, rows }: RawTable): object[] {
      if (rows === null) return []
      if (!Array.isArray(rows)) {
        note(file, path, 'must be an array of rows')
        return []
      }
      return rows.flatMap((raw, i) => {
        if (problems.length >= MAX_PROBLEMS) return []
        const result = parseSent<object>(FIXTURE_ROWS[noun], raw, LIST_KNOWN_KEYS)
        if (result.success) {
          places.set(result.data, { file, path: [...path, i] })
          return [result.data]
        }
        for (const issue of issuesAt(result.error, raw, [...path, i]))
          note(file, issue.path, issue.message)
        return []
      })
    },
  }
}

type Check = ReturnType<typeof createCheck>

const SAME = 'is the same as in an earlier row'

/** Checks what a set says about its clients; a world has only one, so its rows do not say it. */
function checkClients(set: Fixtures, { note }: Check) {
  const unique = <R extends object, F extends keyof R & string>(rows: readonly R[], field: F) => {
    const seen = new Set<R[F]>()
    for (const row of rows) {
      if (seen.has(row[field])) note(row, field, SAME)
      seen.add(row[field])
    }
  }
  unique(set.clients, 'client')
  unique(set.clients, 'client_id')
  unique(set.clients, 'access_token')
  unique(set.webhooks, 'client')
  const clients = new Set(set.clients.map((row) => row.client))
  for (const row of [...set.users, ...set.webhooks])
    if (!clients.has(row.client)) note(row, 'client', `there is no client ${row.client}`)
}

// Where a fixture has another name than its row.
const NOUN_OF: Record<keyof FixtureRows, FixtureNoun> = {
  client: 'clients',
  users: 'users',
  kyc: 'kyc',
  bank_accounts: 'bank_accounts',
  payments: 'transactions',
  webhook: 'webhooks',
}
const FIELD_OF: Readonly<Record<string, string>> = { failure: 'reason' }

/** Checks the relations between rows that were made from a set. */
function checkRelations(set: Fixtures, { client: _, ...rows }: FixtureRows, check: Check) {
  const clients = new Map(set.users.map((row) => [row.user_id, row.client]))
  const note: NoteProblem = (table, i, field, message) =>
    check.note(set[NOUN_OF[table as keyof FixtureRows]][i]!, FIELD_OF[field] ?? field, message)
  for (const _ of checkRows(rows, note, (user) => clients.get(user))) {
    // A set is small: it is checked without a pause.
  }
}

export function worldsOf(rawTables: RawTable[]): FixtureWorlds {
  const check = createCheck()
  const read = Object.fromEntries(NOUNS.map((noun) => [noun, []])) as unknown as FixtureSet
  for (const raw of rawTables) read[raw.noun] = check.rows(raw) as never
  if (read.clients.length === 0)
    read.clients.push(FIXTURE_ROWS.clients.parse({ client: 'default' }))
  if (check.problems.length > 0) throw new BadFixtures(check.problems)
  const set = complete(read)
  const rows = rowsOf(set)
  checkClients(set, check)
  checkRelations(set, rows, check)
  if (check.problems.length === 0 && !set.clients.some((row) => row.client === 'default'))
    check.note(set.clients[0]!, 'client', 'one client must have the name default')
  if (check.problems.length > 0) throw new BadFixtures(check.problems)
  const content = JSON.stringify(rawTables.map(({ noun, rows }) => [noun, rows]))
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16)
  return new Map(
    set.clients.map(({ client }) => [
      client,
      { key: `${client} ${digest}`, rows: rowsOfClient(set, rows, client) },
    ]),
  )
}

export function rawOf(file: string, content: unknown): RawTable[] {
  if (!isObject(content))
    throw new BadFixtures([problemAt(file, `must be an object with ${NOUNS.join(', ')}`, [])])
  const unknown = Object.keys(content).filter((key) => !NOUNS.includes(key as FixtureNoun))
  if (unknown.length > 0) {
    const hint = (key: string) => didYouMean(key, NOUNS) || `; must be one of ${NOUNS.join(', ')}`
    throw new BadFixtures(unknown.map((key) => problemAt(file, `is unknown${hint(key)}`, [key])))
  }
  return NOUNS.filter((noun) => noun in content).map((noun) => {
    return { noun, file, path: [noun], rows: content[noun] }
  })
}

/** A set from a request or a test, checked as `readFixtures` checks a file with that name. */
export const fixturesOf = (content: unknown, file = 'fixtures') => worldsOf(rawOf(file, content))
