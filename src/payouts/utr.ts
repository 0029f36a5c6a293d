import { type UtrSystem, utrForm, utrOfSuccess } from '../assumptions/payments.ts'
import { type PaymentRow, UTR_TIMER } from '../model/payment.ts'
import type { WorldContext } from '../tables/world-context.ts'

const DAY_MS = 86_400_000
// India's time is UTC+5:30, without daylight saving.
const INDIA_MS = 19_800_000
// A UTR ends with eight digits.
const SERIALS = 100_000_000

/** India's day at an instant (ms), counted since 1970. */
export const indiasDay = (ms: number): number => Math.floor((ms + INDIA_MS) / DAY_MS)

/** The part of a UTR before its eight digits, on a day counted since 1970. */
export function headsOf(day: number): Readonly<Record<UtrSystem, string>> {
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10)
  const year = date.slice(0, 4)
  const dayOfYear = String(day - Date.UTC(Number(year), 0, 1) / DAY_MS + 1).padStart(3, '0')
  return {
    imps: year.slice(3) + dayOfYear,
    neft: `N${dayOfYear}${year.slice(2)}00`,
    rtgs: `HDFCR5${date.replaceAll('-', '')}`,
  }
}

/** Returns the function that makes the UTR of an amount: its form and India's date, and a unique number of eight digits. */
function createUtrSeries({ store, clock, random, assumed }: WorldContext) {
  let day = Number.NaN
  let heads = headsOf(0)
  return (paise: number): string => {
    const today = indiasDay(clock.now())
    if (today !== day) {
      heads = headsOf(today)
      day = today
    }
    const head = heads[assumed.get(utrForm)(paise)]
    for (;;) {
      // A factor coprime to 10 maps the running number to eight digits that look random and are unique. Of a large
      // number only the last eight digits count, and their product is exact.
      const serial = ((random.next() % SERIALS) * 48_271) % SERIALS
      const utr = head + String(serial).padStart(8, '0')
      if (store.tables.payments.count('utr', utr) === 0) return utr
    }
  }
}

/** The UTRs of successful payments: with the status or by a later timer, as the reading says. */
export function createUtrs(context: WorldContext) {
  const { store, clock, scheduler, assumed } = context
  const newUtr = createUtrSeries(context)

  scheduler.handle(UTR_TIMER, ({ resource_id }) => {
    const row = store.tables.payments.get(resource_id!)
    // The payment was reversed, or has a UTR.
    if (row?.status !== 'SUCCESS' || row.utr !== null) return false
    const next = { ...row }
    next.utr = newUtr(row.paise)
    next.earlier = { ...row.earlier, SUCCESS: row.updated_at }
    next.updated_at = clock.iso()
    store.put('payments', next)
    return undefined
  })

  return {
    /** The UTR that a payment has from its SUCCESS on. */
    atSuccess: ({ paise }: PaymentRow): string | null =>
      assumed.get(utrOfSuccess).after_ms === 0 ? newUtr(paise) : null,
    /** Schedules the UTR of a payment that has just succeeded without one. */
    schedule({ transaction_id, status, utr }: PaymentRow) {
      if (status !== 'SUCCESS' || utr !== null) return
      scheduler.schedule({
        due_at: clock.now() + assumed.get(utrOfSuccess).after_ms,
        kind: UTR_TIMER,
        resource_id: transaction_id,
        payload: {},
      })
    },
  }
}
