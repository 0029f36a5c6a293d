import { bookedStatus } from '../../model/statement.ts'
import { parseJsonOrUndefined } from '../../requests/request-log.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { SeenDelivery, SeenPayment } from './faults-and-findings.ts'
import { hasLaterEvent, SweepError } from './faults-and-findings.ts'
import { printedBy } from './program.ts'

/** A payment as the integration sees it; `open`: it has no result yet, or is not known. */
type View = 'SUCCESS' | 'FAILED' | 'open'

const PROBE_PLACEHOLDER = '{transaction_id}'
const PROBE_MS = 10_000
const FIELDS = ['status', 'state', 'transaction_status', 'payment_status']
const VIEWS = { paid: 'SUCCESS', failed: 'FAILED', returned: 'FAILED', pending: 'open' } as const

type ProbeRun = {
  probe: string
  payments: readonly SeenPayment[]
  deliveries: readonly SeenDelivery[]
  /** Whether the command passed, so that it knows its payments. */
  isSure: boolean
  send: Runtime['send']
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}

/** The word for the status in the answer of a probe: the whole text, a JSON text, or a field of a JSON object. */
function wordOf(answer: string): string {
  const value = parseJsonOrUndefined(answer)
  if (value === undefined) return answer.trim()
  if (typeof value !== 'object' || value === null) return String(value ?? '')
  const found = FIELDS.map((name) => (value as Record<string, unknown>)[name])
  return String(found.find((one) => typeof one === 'string') ?? '')
}

const viewOf = (word: string): View => VIEWS[bookedStatus(word) ?? 'pending']

/** Asks the probe for a payment; a 404 is an empty answer. Returns why there is no answer, if there is none. */
async function ask(
  { probe, send, env, signal }: ProbeRun,
  { transaction_id }: SeenPayment,
): ReturnType<typeof printedBy> {
  const filled = probe.replaceAll(PROBE_PLACEHOLDER, transaction_id)
  if (/^https?:\/\//.test(probe)) {
    const request = { headers: { accept: 'application/json' }, body: '', deadlineMs: PROBE_MS }
    const { ok, status, response, error } = await send({ method: 'GET', url: filled, ...request })
    if (ok || status === 404) return { text: ok ? response : '' }
    return { why: error?.message ?? `responded with ${status}` }
  }
  return printedBy(filled, { env, deadlineMs: PROBE_MS, signal })
}

function isRight(view: View, payment: SeenPayment, { deliveries, isSure }: ProbeRun): boolean {
  const { transaction_id, statusAtEnd, status } = payment
  if (view === status) return true
  // The integration cannot know what happened after the end.
  if (view === statusAtEnd && !hasLaterEvent(deliveries, transaction_id)) return true
  const isFinal = statusAtEnd === 'SUCCESS' || statusAtEnd === 'FAILED'
  return view === 'open' && (!isFinal || !isSure)
}

/** Throws `SweepError` without an answer, unless the command failed: it may have taken its application with it. */
export async function probeDifferences(run: ProbeRun): Promise<string[]> {
  const found: string[] = []
  for (const payment of run.payments) {
    const { transaction_id, status } = payment
    const asked = await ask(run, payment)
    if ('why' in asked && !run.isSure) continue
    if ('why' in asked)
      throw new SweepError(
        `the probe gave no answer for payment ${transaction_id}: ${run.probe} ${asked.why}. Let a URL respond with 2xx or 404, and a command exit with 0 (it may print nothing for a payment that it doesn't know)`,
      )
    const word = wordOf(asked.text)
    if (isRight(viewOf(word), payment, run)) continue
    const said = word === '' ? 'knows no status' : `says ${JSON.stringify(word)}`
    found.push(`payment ${transaction_id} is ${status}, and the probe ${said}`)
  }
  return found
}
