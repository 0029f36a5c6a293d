import { OPERATIONS } from '../app.ts'
import type { AskerDeps } from './ask.ts'
import type { Finding, Unseen } from './findings.ts'
import { read } from './reads.ts'
import { createSession, StoppedAsking } from './session.ts'
import type { Made } from './writer.ts'
import { write } from './writes.ts'

/** What was found at a service. */
export type Report = {
  /** Nothing differs from the contract. */
  ok: boolean
  against: string
  write: boolean
  calls: number
  /** Endpoints of which an answer was held. */
  held: string[]
  /** What is not as the contract shows it. */
  differs: Finding[]
  /** What the contract leaves open and the sandbox does otherwise. */
  notes: Finding[]
  /** What could not be looked at. */
  unseen: Unseen[]
  /** What was made, and stays. */
  made: Made[]
  /** How many further findings there are, beyond what a report holds. */
  more: number
}

/** Nobody answers at the address at all. */
class NobodyAnswers extends Error {
  readonly exitCode = 1
}

export type ConformOptions = AskerDeps & { write: boolean }

/**
 * Holds a live service against the contract: by reads only, unless `write`. Throws `NobodyAnswers`. What a service
 * answers is taken for hostile: one deadline a call, at most 1 MiB of it, and a number of calls that no answer raises.
 */
export async function conform({ write: writing, ...deps }: ConformOptions): Promise<Report> {
  const session = createSession(OPERATIONS, deps)
  const first = await session.ask('listUsers', { query: { page: 1 } })
  if (first.problem !== undefined)
    throw new NobodyAnswers(
      `No service answers at ${deps.base}: ${first.problem}. Give its base URL with --against.`,
    )
  const writes = write(session)
  let stopped: string | undefined
  try {
    await read(session)
    if (writing) await writes.run()
  } catch (error) {
    if (!(error instanceof StoppedAsking)) throw error
    stopped = error.message
  }
  const { differs, ...told } = session.told(({ method }) => {
    if (stopped !== undefined) return `stopped after three calls without an answer: ${stopped}`
    return method === 'GET' || writing ? 'no id to ask for was found' : 'asked with --write only'
  })
  return {
    ok: differs.length === 0,
    against: deps.base,
    write: writing,
    differs,
    ...told,
    made: writes.made(),
  }
}
