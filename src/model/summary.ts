import * as z from 'zod'
import { named, Timestamp, Uuid } from './formats.ts'
import { PaymentStatus } from './payment.ts'

const Rupees = z.string().regex(/^\d+\.\d{2}$/)
const Sum = z.strictObject({ count: z.int(), rupees: Rupees })
const SumByReason = Sum.extend({ reasons: z.record(z.string(), z.int()) })
const Counts = z.array(z.int())
const byEnd = <T extends z.ZodType>(of: T) => ({ settled: of, failed: of, came_back: of })
const StuckPayment = z.strictObject({
  transaction_id: Uuid,
  rupees: Rupees,
  to: z.string(),
  status: PaymentStatus,
  since: Timestamp,
  overdue: z.boolean().describe('false: no step is planned.'),
})
const Series = z.strictObject({
  from: Timestamp,
  bucket_ms: z.int(),
  settled: z.array(Rupees).max(60),
  failed: z.array(Rupees).max(60).describe('Failed or came back.'),
  counts: z.strictObject(byEnd(Counts)).describe('The payments of each bucket.'),
  outages: Counts.describe('The calls to make a payment that got 5xx or no response.'),
})
const Took = z.strictObject({ p50_ms: z.int(), p95_ms: z.int(), counts: Counts })

/** What happened to a client's money, webhooks and calls. */
export const Summary = named('SummaryResponse', {
  settled: Sum,
  in_flight: Sum,
  failed: SumByReason.describe('Without those that came back.'),
  came_back: SumByReason.describe('Failed after a success.'),
  success_rate: z.number().nullable().describe('Settled, of all that are not in flight; 0 to 1.'),
  median_to_success_ms: z.int().nullable().describe('From the creation to the first success.'),
  series: Series.nullable().describe(
    'By when each payment reached its current status, from the first payment until now.',
  ),
  spans: z
    .strictObject({
      bounds_ms: z.array(z.int()),
      ...byEnd(Took.nullable().describe('From the creation to the current status.')),
      to_come: z
        .strictObject({ rupees: z.array(Rupees), counts: Counts })
        .describe('In flight, by the time until a timer settles them.'),
    })
    .describe('Each list has what is below each of `bounds_ms`, and last what is above all.'),
  stuck: Sum.extend({ payments: z.array(StuckPayment).max(10) }).describe(
    'In flight, and no timer will move them.',
  ),
  deliveries: z.strictObject({
    first_attempt: z.int(),
    tries: Counts.describe('How many were accepted at the first try, the second, and so on.'),
    with_retry: z.int(),
    waiting: z.int(),
    failed: z.int(),
    not_sent: z.int().describe('No webhook was set, a rule dropped it, or it was cancelled.'),
  }),
  calls: z.strictObject({
    all: z.int().describe('Of your code: not of the console, of agents or of timelines.'),
    refused: z.int().describe('With an error status that no rule chose.'),
    by_class: z
      .record(z.string(), z.int())
      .describe('By class of status, such as 4xx; none: without a response.'),
    by_rule: z.int().describe('A rule chose, delayed or broke the response.'),
    dropped: z.int().describe('Older calls that the log has discarded; not in `all`.'),
  }),
})
export type Summary = z.infer<typeof Summary>
