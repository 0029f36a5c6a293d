// tools/conform/: checks whether a live service keeps the contract, and measures which readings of the assumptions it has.
// conform.ts runs the checks.

import { ASSUMPTIONS, readingProblem } from '../../assumptions/readings.ts'
import { valueAt } from '../../model/validation-errors.ts'
import { endpointOf } from './findings.ts'
import type { HttpClientOptions } from './http-client.ts'
import { type Measures, NOT_MEASURABLE } from './measuring.ts'
import { READ_MEASURES } from './read-measures.ts'
import { isId, runReads } from './reads.ts'
import { ConformStopped, describe, Session } from './session.ts'
import { WRITE_MEASURES } from './write-measures.ts'
import { runWrites } from './writes.ts'

type CreatedResource = { endpoint: string; id: string }

const ID_PATHS: Readonly<Record<string, readonly (readonly PropertyKey[])[]>> = {
  createUser: [['data', 'user_id']],
  submitKyc: [0, 1].map((i) => ['data', i, 'data', 'kyc_id']),
  addBankAccount: [['data', 'data', 'bank_id']],
  createTransaction: [['data', 0, 'transaction_id']],
  createWebhook: [['updatedWebhook', 'response', 'data', 'webhook_id']],
}

/** The resources that POSTs created, also those that should have failed. */
function createdBy(session: Session): CreatedResource[] {
  const created = new Map<string, CreatedResource>()
  for (const { op, body } of session.exchanges()) {
    for (const path of ID_PATHS[op.id] ?? []) {
      const found = valueAt(body, path)
      if (isId(found)) created.set(found, { endpoint: endpointOf(op), id: found })
    }
  }
  return [...created.values()]
}

export const MEASURES: Measures = { ...WRITE_MEASURES, ...READ_MEASURES }

type MeasuredAssumption = { name: string; reading: string; evidence: string }

type UnmeasuredAssumption = { name: string; reason: string }

async function measureAssumption(
  session: Session,
  name: string,
): Promise<MeasuredAssumption | UnmeasuredAssumption> {
  const found = (await MEASURES[name]?.(session)) ?? NOT_MEASURABLE[name]!
  if (typeof found === 'string') return { name, reason: found }
  const { reading, shownBy } = found
  const problem = readingProblem(name, reading)
  if (problem !== undefined) return { name, reason: `${name} ${problem}, not ${reading}` }
  const call = describe(shownBy.call)
  const request = call ? ` (${call})` : ''
  const seen = found.seen ?? `status ${shownBy.status}`
  return { name, reading, evidence: `${endpointOf(shownBy.op)}${request}: ${seen}` }
}

/** The results in the order of docs/assumptions.md. After a run that stopped, the points that it did not reach are not measured. */
function measuredReport(results: readonly (MeasuredAssumption | UnmeasuredAssumption)[]) {
  const rest = ASSUMPTIONS.slice(results.length).map(({ name }) => ({
    name,
    reason: 'the run stopped before',
  }))
  const all = [...results, ...rest]
  return {
    assumptions: all.filter((one) => 'reading' in one),
    not_measured: all.filter((one) => 'reason' in one),
  }
}

class ServiceUnreachable extends Error {
  readonly exitCode = 1
}

export type ConformOptions = HttpClientOptions & { write: boolean }

/** Checks a live service, with read requests only unless `write` is set. Responses are untrusted: none can increase the number of calls. */
export async function conform({ write: withWrites, ...options }: ConformOptions) {
  const session = new Session(options)
  const first = await session.send('listUsers', { query: { page: 1 } })
  if (first.problem !== undefined)
    throw new ServiceUnreachable(
      `No service responds at ${options.base}: ${first.problem}. Set its base URL with --against.`,
    )
  const measured: (MeasuredAssumption | UnmeasuredAssumption)[] = []
  let stopped: string | undefined
  try {
    await runReads(session)
    if (withWrites) await runWrites(session)
    for (const { name } of ASSUMPTIONS) measured.push(await measureAssumption(session, name))
  } catch (error) {
    if (!(error instanceof ConformStopped)) throw error
    stopped = error.message
  }
  const { differs, ...rest } = session.report(({ method }) => {
    if (stopped !== undefined) return `stopped after three calls without a response: ${stopped}`
    return method === 'GET' || withWrites
      ? 'no id for the request was found'
      : 'checked with --write only'
  })
  return {
    /** Nothing differs from the contract. */
    ok: differs.length === 0,
    against: options.base,
    write: withWrites,
    differs,
    ...rest,
    ...measuredReport(measured),
    /** Resources that were created and not deleted. */
    created: createdBy(session),
  }
}

export type ConformReport = Awaited<ReturnType<typeof conform>>
