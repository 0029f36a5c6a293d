import * as z from 'zod'
import { defineTool, type Tool } from '../tool.ts'
import { listText } from './text.ts'

const Input = z.strictObject({
  command: z.array(z.string()).min(1).meta({
    description: 'The test command with its arguments, without a shell: ["npm", "test"].',
  }),
  only: z
    .array(z.string())
    .optional()
    .meta({ description: 'Kinds, names, operations or events of faults, such as answer_lost.' }),
  points: z.enum(['first', 'first-last', 'all']).default('first'),
  clock: z.string().optional().meta({ description: 'frozen, if your tests move the clock.' }),
  max_runs: z.int().min(1).optional(),
  budget: z
    .string()
    .default('45s')
    .meta({ description: 'Start no further run after this real time, such as 5m.' }),
  report: z.string().default('sweep-report').meta({
    description:
      'Folder for the report, with the scenario of each finding; it replaces an earlier report.',
  }),
})

/** The arguments of a sweep. */
export type SweepArguments = z.output<typeof Input>

/** The result of a sweep. */
export type SweepOutcome = {
  counts: string
  /** The folder of the report. */
  report: string
  isPartial: boolean
  findings: readonly {
    id: string
    level: string
    verdict: string
    what: string
    happened: string
    reproduce: string
  }[]
}

/** The tool that makes a sweep: only a server that may start programs has it. */
export const createSweepTool = (
  sweep: (args: SweepArguments, signal: AbortSignal) => Promise<SweepOutcome>,
): Tool =>
  defineTool({
    name: 'run_sweep',
    title: 'Find what breaks the integration',
    description:
      'Runs your test command once for each thing that the contract permits to go wrong, and lists what broke (only with stdio).',
    input: Input,
    async run(args, { signal }) {
      const { counts, report, isPartial, findings } = await sweep(args, signal)
      const lines = findings.map(
        ({ id, level, verdict, what, happened, reproduce }) =>
          `${id}, ${level}, ${verdict}: ${what}\n  ${happened}\n  see it again: ${reproduce}`,
      )
      const more = isPartial
        ? ' Not all runs were made: call again with a larger budget for the rest.'
        : ''
      return {
        text: `${counts}\n${listText('Findings', lines)}\nThe report is in ${report}`,
        next:
          findings.length > 0
            ? `correct the first finding in your code, then sweep with only that fault.${more}`
            : `nothing broke.${more} points: all tries more calls.`,
      }
    },
  })
