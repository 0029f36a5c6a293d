import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type JsonPath, jsonPlaces } from '../json/json-positions.ts'
import { didYouMean, editDistance } from '../model/closest-word.ts'
import { FIXTURE_FILES, FIXTURE_ROWS, type FixtureNoun, type Fixtures } from '../model/fixtures.ts'
import { DOCUMENT_OF, type KycMetadata } from '../model/kyc.ts'
import { maskNumber } from '../model/mask.ts'
import { paiseOf } from '../model/money.ts'
import { failureOf } from '../model/payment.ts'
import type { Problem } from '../model/problem.ts'
import { mobileKey } from '../model/user.ts'
import { describeIssue, LIST_KNOWN_KEYS, unknownField } from '../model/validation-errors.ts'
import { uuidOf } from '../runtime/random.ts'
import type { BaseRows } from '../storage/store.ts'
import type { Rows } from '../tables/rows.ts'
import { accountKey } from '../tables/tables.ts'
import {
  BadFixtures,
  FixtureError,
  problemAt,
  textOf,
  toBadFixtures,
  withPositions,
} from './fixture-problems.ts'

/** The worlds of a fixture set, by client name: the rows of each table, and a key that identifies the content. */
export type FixtureWorlds = Map<string, { key: string; rows: BaseRows<Rows> }>

const NOUNS = Object.keys(FIXTURE_ROWS) as FixtureNoun[]
const fileOf = (noun: FixtureNoun) => `${noun.replaceAll('_', '-')}.json`
const MAX_PROBLEMS = 20

/** The unchecked rows of one noun, with their file and their path in it. */
type RawTable = { noun: FixtureNoun; file: string; path: JsonPath; rows: unknown }

function parseFile(file: string): unknown {
  const text = textOf(file)
  try {
    return JSON.parse(text)
  } catch (error) {
    const {
      line = 1,
      column = 1,
      message = (error as Error).message,
    } = jsonPlaces(text).fault ?? {}
    throw new BadFixtures([{ file, line, column, path: '', message }])
  }
}

function readRaw(path: string): RawTable[] {
  if (!existsSync(path))
    throw new BadFixtures([
      problemAt(
        path,
        [],
        'there is no such file or folder; --fixtures takes a JSON file or a folder of JSON files',
      ),
    ])
  if (statSync(path).isDirectory()) {
    return NOUNS.map((noun) => ({ noun, file: join(path, fileOf(noun)), path: [] }))
      .filter(({ file }) => existsSync(file))
      .map((found) => ({ ...found, rows: parseFile(found.file) }))
  }
  return rawOf(path, parseFile(path))
}

/** A problem for each JSON file of a fixture folder that is not read, with the probably intended name. */
function misnamedFiles(path: string): Problem[] {
  if (!existsSync(path) || !statSync(path).isDirectory()) return []
  const normalized = (name: string) =>
    name
      .toLowerCase()
      .replace(/s?\.json$/, '')
      .replaceAll('_', '-')
  return readdirSync(path)
    .filter((name) => /\.json$/i.test(name) && !FIXTURE_FILES.includes(name))
    .map((name) => {
      const meant = FIXTURE_FILES.find(
        (known) =>
          editDistance(normalized(known), normalized(name), 3) < 3 ||
          normalized(known).startsWith(normalized(name)),
      )
      const message = meant
        ? `is not a fixture file; did you mean ${meant}?`
        : `is not a fixture file; a fixture folder can contain ${FIXTURE_FILES.join(', ')}`
      return problemAt(join(path, name), [], message)
    })
}

function rawOf(file: string, content: unknown): RawTable[] {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new FixtureError([problemAt(file, [], `must be an object with ${NOUNS.join(', ')}`)])
  }
  const unknown = Object.keys(content).filter((key) => !NOUNS.includes(key as FixtureNoun))
  if (unknown.length > 0) {
    const hint = (key: string) => didYouMean(key, NOUNS) || `; must be one of ${NOUNS.join(', ')}`
    throw new FixtureError(unknown.map((key) => problemAt(file, [key], `is unknown${hint(key)}`)))
  }
  return NOUNS.filter((noun) => noun in content).map((noun) => {
    return { noun, file, path: [noun], rows: (content as Record<string, unknown>)[noun] }
  })
}

/** Checks rows against their schemas and collects the problems. */
function createCheck() {
  const problems: ReturnType<typeof problemAt>[] = []
  const places = new Map<object, { file: string; path: JsonPath }>()
  const note = (file: string, path: JsonPath, message: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push(problemAt(file, path, message))
  }
  return {
    problems,
    note(row: object, field: string, message: string) {
      const { file, path } = places.get(row)!
      note(file, [...path, field], message)
    },
    rows({ noun, file, path, rows }: RawTable): object[] {
      if (!Array.isArray(rows)) {
        note(file, path, 'must be an array of rows')
        return []
      }
      return rows.flatMap((raw, i) => {
        if (problems.length >= MAX_PROBLEMS) return []
        const result = FIXTURE_ROWS[noun].safeParse(raw, LIST_KNOWN_KEYS)
        if (result.success) {
          places.set(result.data, { file, path: [...path, i] })
          return [result.data]
        }
        for (const issue of result.error.issues) {
          const at = [...path, i, ...(issue.path as JsonPath)]
          if (issue.code !== 'unrecognized_keys') note(file, at, describeIssue(issue, raw).message)
          else for (const key of issue.keys) note(file, [...at, key], unknownField(key, issue))
        }
        return []
      })
    },
  }
}

function checkRelations(
  set: Fixtures,
  note: (row: object, field: string, message: string) => void,
) {
  const clients = new Set(set.clients.map((row) => row.client))
  const users = new Map(set.users.map((row) => [row.user_id, row]))
  const accounts = new Map(set.bank_accounts.map((row) => [row.bank_id, row]))

  function unique<R extends object>(
    rows: readonly R[],
    field: string,
    keyOf: (row: R) => string | undefined,
  ) {
    const seen = new Set<string>()
    for (const row of rows) {
      const key = keyOf(row)
      if (key === undefined) continue
      if (seen.has(key)) note(row, field, 'is the same as in an earlier row')
      seen.add(key)
    }
  }
  unique(set.clients, 'client', (row) => row.client)
  unique(set.clients, 'client_id', (row) => row.client_id)
  unique(set.clients, 'access_token', (row) => row.access_token)
  unique(set.users, 'user_id', (row) => row.user_id)
  unique(set.users, 'email', (row) => `${row.client} ${row.email.toLowerCase()}`)
  unique(set.users, 'mobile', (row) => `${row.client} ${mobileKey(row.mobile)}`)
  unique(set.kyc, 'kyc_id', (row) => row.kyc_id)
  unique(set.bank_accounts, 'bank_id', (row) => row.bank_id)
  unique(set.bank_accounts, 'account_number', (row) =>
    row.bank_status === 'success' ? accountKey(row) : undefined,
  )
  unique(set.transactions, 'transaction_id', (row) => row.transaction_id)
  unique(set.transactions, 'id', (row) => row.id)
  unique(set.transactions, 'utr', (row) => row.utr)
  unique(
    set.transactions,
    'reference_id',
    ({ from_user_id, reference_id, client_transaction_id: id }) =>
      (reference_id ?? id) && `${users.get(from_user_id)?.client} ${reference_id ?? id}`,
  )
  unique(set.webhooks, 'client', (row) => row.client)
  unique(set.webhooks, 'webhook_id', (row) => row.webhook_id)

  for (const row of [...set.users, ...set.webhooks]) {
    if (!clients.has(row.client)) note(row, 'client', `there is no client ${row.client}`)
  }
  for (const row of [...set.kyc, ...set.bank_accounts]) {
    if (!users.has(row.user_id)) note(row, 'user_id', `there is no user ${row.user_id}`)
  }
  for (const row of set.kyc) {
    if (DOCUMENT_OF[row.document_type] !== row.document_name) {
      note(row, 'document_name', 'must be aadhar with pid, or pan with tid')
    }
  }
  for (const row of set.transactions) {
    const [from, to] = [users.get(row.from_user_id), users.get(row.to_user_id)]
    const account = accounts.get(row.benif_bank_id)
    if (!from) note(row, 'from_user_id', `there is no user ${row.from_user_id}`)
    if (!to) note(row, 'to_user_id', `there is no user ${row.to_user_id}`)
    if (from && to && from.client !== to.client)
      note(row, 'to_user_id', 'belongs to another client')
    if (row.from_user_id === row.to_user_id) note(row, 'to_user_id', 'must not be the payer')
    if (!account) note(row, 'benif_bank_id', `there is no bank account ${row.benif_bank_id}`)
    else if (account.user_id !== row.to_user_id)
      note(row, 'benif_bank_id', 'does not belong to the receiver')
    else if (account.bank_status !== 'success') note(row, 'benif_bank_id', 'is not verified')
    if (row.status === 'SUCCESS' && !row.utr) note(row, 'utr', 'is required for status SUCCESS')
    if (row.status === 'FAILED' && !row.reason) note(row, 'reason', 'is required for status FAILED')
  }
}

const updated = <R extends { created_at: string; updated_at?: string | undefined }>(row: R) => ({
  created_at: row.created_at,
  updated_at: row.updated_at ?? row.created_at,
})

function kycMetadata(row: Fixtures['kyc'][number]): KycMetadata | null {
  if (row.document_type === 'pid') return null
  const ok = row.kyc_status === 'success'
  const statusCode = row.statusCode ?? 200
  return {
    statusCode,
    response: {
      status: ok,
      code: statusCode,
      message: row.message ?? (ok ? 'PAN verified successfully' : 'PAN verification failed'),
      data: {
        status: ok ? 'success' : 'failure',
        statusCode,
        result: row.result ? { pan: maskNumber(row.document_number), ...row.result } : null,
        metaData: {
          requestId: `${Date.parse(row.created_at)}-${uuidOf(`request ${row.kyc_id}`)}`,
          transactionId: uuidOf(`transaction ${row.kyc_id}`),
        },
      },
    },
  }
}

/** The stored rows of one client, oldest first, with the ids that follow from other rows (`pid`, `tid`, `bank_id`). */
function rowsOfClient(set: Fixtures, name: string): BaseRows<Rows> {
  const users = new Map(
    set.users.filter((row) => row.client === name).map((row) => [row.user_id, row]),
  )
  const accounts = new Map(set.bank_accounts.map((row) => [row.bank_id, row]))
  const oldestFirst = <R extends { created_at: string }>(rows: R[]) =>
    rows.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at))
  const kyc = oldestFirst(set.kyc.filter((row) => users.has(row.user_id)))
  const bank = oldestFirst(set.bank_accounts.filter((row) => users.has(row.user_id)))
  const links = new Map<
    string,
    { pid: string | null; tid: string | null; bank_id: string | null }
  >()
  for (const id of users.keys()) links.set(id, { pid: null, tid: null, bank_id: null })
  for (const row of kyc) {
    if (row.kyc_status === 'success') links.get(row.user_id)![row.document_type] = row.kyc_id
  }
  for (const row of bank) {
    if (row.bank_status === 'success') links.get(row.user_id)!.bank_id ??= row.bank_id
  }
  return {
    client: set.clients
      .filter((row) => row.client === name)
      .map(({ created_at, updated_at, ...row }) => ({
        ...row,
        ...updated({ created_at, updated_at }),
      })),
    users: oldestFirst([...users.values()]).map((row) => ({
      user_id: row.user_id,
      user_type: row.user_type,
      email: row.email,
      mobile: row.mobile,
      ...links.get(row.user_id)!,
      ...updated(row),
    })),
    kyc: kyc.map((row) => ({
      kyc_id: row.kyc_id,
      user_id: row.user_id,
      country: row.country,
      document_type: row.document_type,
      document_name: row.document_name,
      document_number: row.document_number,
      full_name: row.full_name,
      dob: row.dob,
      kyc_status: row.kyc_status,
      verified_by: row.verified_by,
      metadata: kycMetadata(row),
      ...updated(row),
    })),
    bank_accounts: bank.map(({ account_holder_name, created_at, updated_at, ...row }) => ({
      ...row,
      account_name: account_holder_name,
      ...updated({ created_at, updated_at }),
    })),
    payments: oldestFirst(set.transactions.filter((row) => users.has(row.from_user_id))).map(
      (row) => {
        const account = accounts.get(row.benif_bank_id)!
        return {
          transaction_id: row.transaction_id,
          id: row.id,
          reference_id: row.reference_id ?? null,
          client_transaction_id: row.client_transaction_id ?? row.reference_id ?? row.id,
          partner_transaction_id: row.partner_transaction_id,
          from_user_id: row.from_user_id,
          to_user_id: row.to_user_id,
          benif_bank_id: row.benif_bank_id,
          account_number: account.account_number,
          ifsc_code: account.ifsc_code,
          account_name: account.account_holder_name,
          bank_status: account.bank_status,
          currency_code: 'INR',
          transaction_type: row.transaction_type,
          paise: paiseOf(row.amount)!,
          status: row.status,
          utr: row.utr ?? null,
          remark: row.remark,
          failure: row.status === 'FAILED' ? failureOf(row.reason!) : null,
          ...updated(row),
        }
      },
    ),
    webhook: set.webhooks
      .filter((row) => row.client === name)
      .map(({ webhook_id, url, webhook_secret }) => ({ webhook_id, url, webhook_secret })),
  }
}

/** The client of a set that has no clients. */
const DEFAULT_CLIENT = {
  client: 'default',
  client_id: 'c0000000-0000-4000-8000-000000000001',
  access_token: 'sbx_test_token',
  name: 'Sandbox Payments',
  email: 'payments@example.com',
  created_at: '2025-01-06T03:30:00.000Z',
}

function worldsOf(rawTables: RawTable[], content: string): FixtureWorlds {
  const check = createCheck()
  const set = Object.fromEntries(NOUNS.map((noun) => [noun, []])) as unknown as Fixtures
  for (const raw of rawTables) set[raw.noun] = check.rows(raw) as never
  if (set.clients.length === 0) set.clients.push(FIXTURE_ROWS.clients.parse(DEFAULT_CLIENT))
  if (check.problems.length === 0) checkRelations(set, check.note)
  if (check.problems.length === 0 && !set.clients.some((row) => row.client === 'default')) {
    check.note(set.clients[0]!, 'client', 'one client must have the name default')
  }
  if (check.problems.length > 0) throw new FixtureError(check.problems)
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16)
  return new Map(
    set.clients.map(({ client }) => [
      client,
      { key: `${client} ${digest}`, rows: rowsOfClient(set, client) },
    ]),
  )
}

/** The unchecked content of a folder of fixture files or of one file, as `fixturesOf` takes it. */
export const fixtureContent = (path: string): Record<string, unknown> =>
  Object.fromEntries(readRaw(path).map(({ noun, rows }) => [noun, rows]))

/** Reads a folder of fixture files, or one file with everything; throws `BadFixtures` if anything is wrong. */
export function readFixtures(path: string): FixtureWorlds {
  const misnamed = misnamedFiles(path)
  const worlds = toBadFixtures(() => {
    const raws = readRaw(path)
    if (raws.length === 0) {
      const message = `contains none of ${FIXTURE_FILES.join(', ')}`
      throw new BadFixtures([problemAt(path, [], message), ...misnamed])
    }
    return worldsOf(raws, JSON.stringify(raws.map(({ noun, rows }) => [noun, rows])))
  }, withPositions)
  if (misnamed.length > 0) throw new BadFixtures(misnamed)
  return worlds
}

/** The shipped set as the build checked it; `undefined` if there is no build. */
export function shippedWorlds(path: string): FixtureWorlds | undefined {
  return existsSync(path) ? new Map(JSON.parse(readFileSync(path, 'utf8'))) : undefined
}

/** A set from a request or a test, checked as `readFixtures` checks a file with that name. */
export const fixturesOf = (content: unknown, file = 'fixtures'): FixtureWorlds =>
  toBadFixtures(() => worldsOf(rawOf(file, content), JSON.stringify(content)))
