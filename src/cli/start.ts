import { type Command, checkWords } from './command.ts'
import { gatherOptions, START_FLAGS } from './options.ts'

export const start: Command = {
  name: 'start',
  summary: 'serve; Ctrl-C stops',
  usage: [['[start]', 'serve until a signal comes']],
  flags: { ...START_FLAGS, json: ['', 'print one line of JSON when ready'] },
  examples: [
    '--port 0 --memory --json',
    '--clock 2026-01-01T00:00:00Z --random-seed 7',
    '--scenarios ./scenarios --scenario my-first --watch',
  ],
  async run({ words, flags: { json, ...flags }, env }) {
    checkWords('start', '', words)
    const options = gatherOptions(flags, env)
    const { serve } = await import('./serve.ts')
    return serve(options, Boolean(json))
  },
}
