import type { Random } from '../core/random.ts'

/** What a table's rows are here: their ids are looked at, whatever else they have. */
type Tables = Readonly<Record<string, readonly object[]>>

// Fields whose value an id of the series may be, and how many draws more belong to a row of it, at least.
const DRAWN: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  users: { user_id: 0 },
  kyc: { kyc_id: 0 },
  bank_accounts: { bank_id: 0 },
  // Behind its two ids come the digits of its partner's id, two draws.
  payments: { transaction_id: 3, id: 2 },
  webhook: { webhook_id: 0 },
  events: { event_id: 0 },
}
const NUMBERED: Readonly<Record<string, string>> = { timers: 'timer_id', inbox: 'message_id' }

// A UTR ends with eight digits that the series makes of a draw by this factor; it goes through all of them.
const [UTR_FACTOR, UTR_SERIALS] = [48_271n, 100_000_000n]
const UTR = /^\d{12}$/

/** What times the factor is 1 among the serials. */
const UNDO_FACTOR = ((): bigint => {
  let [a, b, x, y] = [UTR_FACTOR, UTR_SERIALS, 1n, 0n]
  while (b > 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y]
  return ((x % UTR_SERIALS) + UTR_SERIALS) % UTR_SERIALS
})()

/** The first draw behind another one that gives this UTR. */
function drawOfUtr(utr: string, after: number): number {
  const serial = BigInt(utr.slice(4))
  const first = Number((serial * UNDO_FACTOR) % UTR_SERIALS)
  const round = Number(UTR_SERIALS)
  return first > after ? first : first + Math.ceil((after + 1 - first) / round) * round
}

const uuidIn = (id: string) =>
  id.startsWith('evt_')
    ? id.slice(4).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : id

/**
 * The least place in the random series from which no id of these rows is given again, and what needs it. A row that
 * another series made, such as one of the fixtures, needs none. Each `yield` is a place to pause.
 */
export function* lowestDraws(
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
        // A payment without a reference has an id in its place: two draws more.
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
