import { BadOption } from '../config/options.ts'
import { type Command, flagMeantBy } from './command.ts'
import { gatherOptions, START_FLAGS } from './options.ts'

/** Refuses a word: `start frozen` means `start --clock frozen`. */
function refuseWord(word: string): never {
  const meant = flagMeantBy(word, START_FLAGS)
  const use = meant
    ? `did you mean payout-sandbox start ${meant}?`
    : 'use payout-sandbox start, with options such as --scenario NAME or --port N'
  throw new BadOption(`start takes no ${JSON.stringify(word)}; ${use}`)
}

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
    if (words[0] !== undefined) refuseWord(words[0])
    const options = gatherOptions(flags, env)
    const { serve } = await import('./serve.ts')
    return serve(options, Boolean(json))
  },
}
