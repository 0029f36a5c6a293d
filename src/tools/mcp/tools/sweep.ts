import * as z from 'zod'
import { defineTool, type Tool, type ToolResult } from '../tool.ts'

const Input = z.strictObject({
  command: z.array(z.string()).min(1).meta({
    description: 'The test command with its arguments, without a shell: ["npm", "test"].',
  }),
  only: z
    .array(z.string())
    .optional()
    .meta({ description: 'Kinds, names, operations or events of faults, such as reset_after.' }),
  points: z.enum(['first', 'first-last', 'all']).default('first'),
  clock: z.string().optional().meta({ description: 'frozen, if your tests move the clock.' }),
  max_runs: z.int().min(1).optional(),
  max_time: z
    .string()
    .default('45s')
    .meta({ description: 'Start no further run after this real time, such as 5m.' }),
  report: z.string().default('sweep-report').meta({
    description:
      'Folder for the report, with the scenario of each finding; it replaces an earlier report.',
  }),
})

export type SweepArguments = z.output<typeof Input>

/** The tool that makes a sweep: only a server that may start programs has it. */
export const createSweepTool = (
  sweep: (args: SweepArguments, signal: AbortSignal) => Promise<ToolResult>,
): Tool =>
  defineTool('run_sweep', {
    title: 'Find what breaks the integration',
    description:
      'Runs your test command once for each thing that the contract permits to go wrong, and lists what broke (only with stdio).',
    input: Input,
    run: (args, { signal }) => sweep(args, signal),
  })
