import { BadOption } from '../config/options.ts'
import { type Command, suggestFlag } from './command.ts'
import { gatherOptions, START_FLAGS } from './options.ts'

/** Throws `BadOption` on a positional argument: `start frozen` means `start --clock frozen`. */
function rejectArgument(argument: string): never {
  const suggestion = suggestFlag(argument, START_FLAGS)
  const hint = suggestion
    ? `did you mean payout-sandbox start ${suggestion}?`
    : 'usage: payout-sandbox start, with options such as --scenario NAME or --port N'
  throw new BadOption(`unexpected argument ${JSON.stringify(argument)} for start; ${hint}`)
}

export const start: Command = {
  name: 'start',
  summary: 'start a sandbox; Ctrl-C stops it',
  usage: [['[start]', 'start a sandbox and serve until a signal stops it']],
  flags: {
    ...START_FLAGS,
    json: ['', 'when ready, print the addresses as one line of JSON'],
    'stop-with-stdin': [
      '',
      'also stop when standard input ends; so the sandbox ends with the program that started it, also if that is killed',
    ],
  },
  examples: [
    '--port 0 --memory --json --stop-with-stdin',
    '--clock 2026-01-01T00:00:00Z --random-seed 7',
    '--scenarios ./scenarios --scenario my-first --watch',
  ],
  async run({ args, flags: { json, 'stop-with-stdin': stopWithStdin, ...flags }, env }) {
    if (args[0] !== undefined) rejectArgument(args[0])
    const options = gatherOptions(flags, env)
    const { serve } = await import('./serve.ts')
    return serve(options, { json: Boolean(json), stopWithStdin: Boolean(stopWithStdin) })
  },
}
