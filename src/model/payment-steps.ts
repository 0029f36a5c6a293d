import type * as z from 'zod'
import type { PaymentRow, PaymentStep } from './payment.ts'

/** The kind of the timer that sets the UTR of a payment after its SUCCESS. */
export const UTR_TIMER = 'transaction.utr'

/** The statuses of a payment so far, oldest first. */
export function stepsOf(row: PaymentRow): z.infer<typeof PaymentStep>[] {
  const { created_at, earlier = {}, status, updated_at } = row
  const noted = (['PROCESSING', 'SUCCESS'] as const).flatMap((was) => {
    const at = earlier[was]
    return at === undefined ? [] : [{ status: was, at }]
  })
  const isNoted = status === 'PENDING' || noted.at(-1)?.status === status
  const now = isNoted ? [] : [{ status, at: updated_at }]
  return [{ status: 'PENDING', at: created_at }, ...noted, ...now]
}
