import { resolve } from 'node:path'
import type { SweepArguments, SweepOutcome } from '../mcp/tools/sweep.ts'
import { runSweep } from './sweep.ts'

/** Makes a sweep for an agent. */
export async function sweepForAgent(
  env: NodeJS.ProcessEnv,
  { command, only, points, clock, max_runs: maxRuns, budget, report }: SweepArguments,
  signal: AbortSignal,
): Promise<SweepOutcome> {
  const flags = {
    points,
    budget,
    ...(only && { only: only.join(',') }),
    ...(clock !== undefined && { clock }),
    ...(maxRuns !== undefined && { 'max-runs': String(maxRuns) }),
    report,
  }
  const result = await runSweep({ args: [], program: command, flags, env }, signal)
  const { countsText } = await import('../sweep/report/sentences.ts')
  return {
    counts: countsText(result),
    report: resolve(report),
    isPartial: result.leftOut > 0,
    findings: result.findings.map(({ finding, level, verdict, what, happened, reproduce }) => ({
      id: finding,
      level,
      verdict,
      what,
      happened,
      reproduce,
    })),
  }
}
