import { readFileSync } from 'node:fs'
import { BadOption } from '../../config/options.ts'
import type { Plan } from './faults-and-findings.ts'
import { findingKey } from './sweep.ts'

type KnownFinding = { verdict: string; plan: Plan; same?: readonly Plan[] }

/** The keys of the findings in the `sweep.json` of an earlier sweep. Throws `BadOption`. */
export function knownFindings(file: string): ReadonlySet<string> {
  const fail = (problem: string): never => {
    throw new BadOption(`--baseline ${file} ${problem}; use the sweep.json of an earlier report`)
  }
  let value: { findings?: unknown } | undefined
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return fail(code === undefined ? `is not JSON: ${message}` : `cannot be read (${code})`)
  }
  const findings = value?.findings
  const isFinding = (one: Partial<KnownFinding> | null): one is KnownFinding =>
    Array.isArray(one?.plan) && typeof one.verdict === 'string'
  if (!Array.isArray(findings) || !findings.every(isFinding)) return fail('has no list of findings')
  return new Set(
    findings.flatMap(({ plan, same = [], verdict }) =>
      [plan, ...same].map((one) => findingKey(one, verdict)),
    ),
  )
}
