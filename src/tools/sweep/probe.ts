import { PROBE_PLACEHOLDER } from '../../webhooks/explore.ts'
import type { World } from '../../world/world.ts'
import type { SeenPayment } from './faults-and-findings.ts'
import { runProgram } from './program.ts'

/** The URL or the command that returns the integration's own view of a payment. */
export type Probe = string

/** A payment as the integration sees it; `open`: it has no result yet, or is not known. */
type View = 'SUCCESS' | 'FAILED' | 'open'

const PROBE_MS = 10_000
const FIELDS = ['status', 'state', 'transaction_status', 'payment_status']
const WORDS: Readonly<Record<string, View>> = {
  success: 'SUCCESS',
  succeeded: 'SUCCESS',
  successful: 'SUCCESS',
  paid: 'SUCCESS',
  completed: 'SUCCESS',
  failed: 'FAILED',
  failure: 'FAILED',
  rejected: 'FAILED',
  reversed: 'FAILED',
  returned: 'FAILED',
}

/** The probe gave no answer. The message says what to do. */
export class ProbeSilent extends Error {
  readonly exitCode = 2
}

const isUrl = (probe: Probe) => /^https?:\/\//.test(probe)

/** The word for the status in the answer of a probe: the whole text, a JSON text, or a field of a JSON object. */
function wordOf(answer: string): string {
  let value: unknown
  try {
    value = JSON.parse(answer)
  } catch {
    return answer.trim()
  }
  if (typeof value !== 'object' || value === null) return String(value ?? '')
  const found = FIELDS.map((name) => (value as Record<string, unknown>)[name])
  return String(found.find((one) => typeof one === 'string') ?? '')
}

const viewOf = (word: string): View => WORDS[word.toLowerCase()] ?? 'open'

/** Asks the probe for a payment; a 404 is an empty answer. Returns why there is no answer, if there is none. */
async function ask(
  probe: Probe,
  { transaction_id }: SeenPayment,
  send: World['runtime']['send'],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<{ answer: string } | { why: string }> {
  const filled = probe.replaceAll(PROBE_PLACEHOLDER, transaction_id)
  if (!isUrl(probe)) {
    const { exitCode, isHung, output, stdout, endGroup } = await runProgram({
      command: [filled],
      env,
      deadlineMs: PROBE_MS,
      isShell: true,
      signal,
    })
    endGroup()
    if (exitCode === 0) return { answer: stdout }
    const last = output.trimEnd().split('\n').at(-1)
    const end = isHung ? `did not end within ${PROBE_MS / 1_000} s` : `exited with ${exitCode}`
    return { why: last ? `${end}: ${last}` : end }
  }
  const { ok, status, response, error } = await send({
    method: 'GET',
    url: filled,
    headers: { accept: 'application/json' },
    body: '',
    deadlineMs: PROBE_MS,
  })
  if (ok || status === 404) return { answer: ok ? response : '' }
  return { why: error?.message ?? `responded with ${status}` }
}

const isFinal = (status: string) => status === 'SUCCESS' || status === 'FAILED'

/** Whether the integration may see a payment so. `isSure`: the command passed, so it knows its payments. */
function isRight(
  view: View,
  { statusAtEnd, status }: SeenPayment,
  hasLaterEvent: boolean,
  isSure: boolean,
): boolean {
  if (view === status) return true
  // The integration cannot know what happened after the end.
  if (view === statusAtEnd && !hasLaterEvent) return true
  if (view !== 'open') return false
  return !isFinal(statusAtEnd) || !isSure
}

export type ProbeRun = {
  probe: Probe
  payments: readonly SeenPayment[]
  /** Whether an event about the payment was accepted after the command ended. */
  hasLaterEvent: (payment: SeenPayment) => boolean
  /** Whether the command passed. */
  isSure: boolean
  send: World['runtime']['send']
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}

/**
 * Asks the probe for each payment, and returns the differences from the sandbox in words. Throws `ProbeSilent` if it does not
 * answer although the command passed: a command that failed may have taken its application with it.
 */
export async function probeDifferences(run: ProbeRun): Promise<string[]> {
  const { probe, payments, hasLaterEvent, isSure, send, env, signal } = run
  const found: string[] = []
  for (const payment of payments) {
    const asked = await ask(probe, payment, send, env, signal)
    if ('why' in asked && !isSure) continue
    if ('why' in asked)
      throw new ProbeSilent(
        `the probe gave no answer for payment ${payment.transaction_id}: ${probe} ${asked.why}. Let a URL respond with 2xx or 404, and a command exit with 0 (it may print nothing for a payment that it doesn't know)`,
      )
    const word = wordOf(asked.answer)
    if (isRight(viewOf(word), payment, hasLaterEvent(payment), isSure)) continue
    const { transaction_id, status } = payment
    const said = word === '' ? 'knows no status' : `says ${JSON.stringify(word)}`
    found.push(`payment ${transaction_id} is ${status}, and the probe ${said}`)
  }
  return found
}
