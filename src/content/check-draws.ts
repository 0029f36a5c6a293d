import type { FieldError } from '../model/errors.ts'
import type { Random } from '../runtime/random.ts'
import type { StateDocument } from './state-document.ts'

/** Tables with their rows; only the ids and UTRs of the rows are used. */
type Tables = Readonly<Record<string, readonly object[]>>

// Id fields whose value can come from the series, and the minimum number of further draws of the row after it.
const DRAWN: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  users: { user_id: 0 },
  kyc: { kyc_id: 0 },
  bank_accounts: { bank_id: 0 },
  // After its two ids follow the digits of its partner's id, two draws.
  payments: { transaction_id: 3, id: 2 },
  webhook: { webhook_id: 0 },
  events: { event_id: 0 },
}
const NUMBERED: Readonly<Record<string, string>> = { timers: 'timer_id', inbox: 'message_id' }

// A UTR ends with eight digits: the draw times this factor, which reaches all numbers of eight digits.
const [UTR_FACTOR, UTR_SERIALS] = [48_271n, 100_000_000n]
const UTR = /^(?:\d{4}|N\d{5}00|HDFCR5\d{8})\d{8}$/

/** The modular inverse of the factor. */
const UNDO_FACTOR = ((): bigint => {
  let [a, b, x, y] = [UTR_FACTOR, UTR_SERIALS, 1n, 0n]
  while (b > 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y]
  return ((x % UTR_SERIALS) + UTR_SERIALS) % UTR_SERIALS
})()

/** The first draw after `after` that generates this UTR. */
function drawOfUtr(utr: string, after: number): number {
  const serial = BigInt(utr.slice(-8))
  const first = Number((serial * UNDO_FACTOR) % UTR_SERIALS)
  const round = Number(UTR_SERIALS)
  return first > after ? first : first + Math.ceil((after + 1 - first) / round) * round
}

const uuidIn = (id: string) =>
  id.startsWith('evt_')
    ? id.slice(4).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : id

/**
 * The lowest position in the random series from which no id of these rows is generated again, and the field that needs
 * it. Rows from another series, such as fixtures, need none. The caller can pause at each `yield`.
 */
function* lowestDraws(
  tables: Tables,
  draws: number,
  random: Random,
): Generator<undefined, { least: number; place: string }> {
  let least = 0
  let place = ''
  function raise(n: number, where: () => string) {
    if (n <= least) return
    least = n
    if (n > draws) place = where()
  }
  for (const [table, fields] of Object.entries(DRAWN))
    for (const [i, row] of (tables[table] as Record<string, string>[]).entries()) {
      yield
      let own: number | undefined
      for (const [field, more] of Object.entries(fields)) {
        const n = random.drawOf(uuidIn(row[field]!))
        if (n === undefined) continue
        own = n
        // A payment without a reference has a generated id instead: two further draws.
        const extra = table === 'payments' && row['reference_id'] === null ? 2 : 0
        raise(n + more + extra, () => `tables.${table}[${i}].${field}`)
      }
      const { utr } = row
      if (own !== undefined && utr && UTR.test(utr))
        raise(drawOfUtr(utr, own), () => `tables.${table}[${i}].utr`)
    }
  for (const [table, field] of Object.entries(NUMBERED))
    for (const [i, row] of (tables[table] as Record<string, string>[]).entries()) {
      yield
      const [, digits] = /^(?:tmr|msg)_(\d{1,15})$/.exec(row[field]!) ?? []
      if (digits !== undefined) raise(Number(digits), () => `tables.${table}[${i}].${field}`)
    }
  return { least, place }
}

/** An error if `draws` is too small: the series would generate the id of an existing row again. */
export function* checkDraws(
  { tables, draws }: StateDocument,
  random: Random,
): Generator<undefined, FieldError[]> {
  const { least, place } = yield* lowestDraws(tables, draws, random)
  if (draws >= least) return []
  const message = `must be at least ${least}, because the random series of this client has already generated ${place}; found ${draws}`
  return [{ field: 'draws', code: 'too_small', message }]
}
