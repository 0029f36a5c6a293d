import type { Measures } from './measuring.ts'
import { READ_MEASURES } from './read-measures.ts'
import { WRITE_MEASURES } from './write-measures.ts'

/** Why no caller of the service can measure an assumption with a few harmless calls. */
const NO_RECEIVER = 'conform receives no webhooks'
export const NOT_MEASURABLE: Readonly<Record<string, string>> = {
  token_lifetime: 'conform does not wait until a token expires',
  rate_limit: 'its number shows only in a flood of calls, which conform never sends',
  unverified_account: 'a payment to an account that failed its check could lose money',
  webhook_delivery: NO_RECEIVER,
  webhook_order: NO_RECEIVER,
  webhook_signature: NO_RECEIVER,
}

/** How each other assumption is measured. */
export const MEASURES: Measures = { ...WRITE_MEASURES, ...READ_MEASURES }
