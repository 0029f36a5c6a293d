import { readFileSync } from 'node:fs'
import { BadOption } from '../config/options.ts'
import type { Plan } from '../tools/sweep/faults-and-findings.ts'

export type KnownFinding = { verdict: string; plan: Plan }

/** The findings of the `sweep.json` of an earlier sweep. Throws `BadOption`. */
export function knownFindings(file: string): readonly KnownFinding[] {
  let value: { findings?: unknown }
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new BadOption(
      code === undefined
        ? `--baseline ${file} is not JSON: ${message}; use the sweep.json of an earlier report`
        : `--baseline ${file} cannot be read (${code}); use the sweep.json of an earlier report`,
    )
  }
  const findings = value?.findings
  const isFinding = (one: unknown) =>
    Array.isArray((one as KnownFinding | null)?.plan) &&
    typeof (one as KnownFinding).verdict === 'string'
  if (!Array.isArray(findings) || !findings.every(isFinding))
    throw new BadOption(
      `--baseline ${file} has no list of findings; use the sweep.json of an earlier report`,
    )
  // Absent values are null in the file.
  return findings.map(({ verdict, plan }: KnownFinding) => ({
    verdict,
    plan: plan.map((fault) => ({
      ...fault,
      operation: fault.operation ?? undefined,
      nth: fault.nth ?? undefined,
    })) as unknown as Plan,
  }))
}
