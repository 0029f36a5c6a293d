import { resolve } from 'node:path'
import type { ToolResult } from '../mcp/tool.ts'
import type { SweepArguments } from '../mcp/tools/sweep.ts'
import { runSweep } from './sweep.ts'

/** Makes a sweep for an agent. */
export async function sweepForAgent(
  env: NodeJS.ProcessEnv,
  { command, only, points, clock, max_runs: maxRuns, budget, report }: SweepArguments,
  signal: AbortSignal,
): Promise<ToolResult> {
  const flags = {
    points,
    budget,
    ...(only && { only: only.join(',') }),
    ...(clock !== undefined && { clock }),
    ...(maxRuns !== undefined && { 'max-runs': String(maxRuns) }),
    report,
  }
  const result = await runSweep({ args: [], program: command, flags, env }, signal)
  const [{ countsText }, { listText }] = await Promise.all([
    import('../sweep/report/sentences.ts'),
    import('../mcp/tools/text.ts'),
  ])
  const { findings } = result
  const found = listText(
    'Findings',
    findings,
    ({ finding, level, verdict, what, happened, reproduce }) =>
      `${finding}, ${level}, ${verdict}: ${what}\n  ${happened}\n  see it again: ${reproduce}`,
  )
  const more =
    result.leftOut > 0
      ? ' Not all runs were made: call again with a larger budget for the rest.'
      : ''
  return {
    text: `${countsText(result)}\n${found}\nThe report is in ${resolve(report)}`,
    next:
      findings.length > 0
        ? `correct the first finding in your code, then sweep with only that fault.${more}`
        : `nothing broke.${more} points: all tries more calls.`,
  }
}
