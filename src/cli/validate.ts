import { BadOption } from '../config/options.ts'
import { jsonLine, printableLine } from '../core/printable.ts'
import type { Problem } from '../core/problem.ts'
import type { Command } from './command.ts'
import { gatherSome, START_FLAGS } from './options.ts'

const place = ({ file, line, column, message }: Problem) => ({ file, line, column, message })

export const validate: Command = {
  name: 'validate',
  summary: 'check scenario and fixture files',
  usage: [
    ['validate', 'check all that a start with these options would read'],
    ['validate FILE...', 'check these files, or all in these folders and the folders in them'],
  ],
  flags: {
    scenarios: START_FLAGS['scenarios']!,
    fixtures: START_FLAGS['fixtures']!,
    json: ['', 'print one line of JSON: ok, files, problems, warnings'],
  },
  examples: [
    'validate',
    'validate scenarios/my-first.yaml',
    'validate --scenarios ./scenarios --json',
  ],
  async run({ words, flags: { json, ...flags }, env }) {
    const { scenarios, fixtures } = gatherSome(['scenarios', 'fixtures'], flags, env)
    const [{ checkAll, checkFiles }, { problemText }] = await Promise.all([
      import('./check-files.ts'),
      import('../core/problem.ts'),
    ])
    const folders = { scenarios, fixtures }
    const { files, problems, warnings } =
      words.length > 0 ? checkFiles(words, folders) : checkAll(folders)
    // A wrong path in CI must not be green for ever.
    if (files.length === 0 && problems.length === 0)
      throw new BadOption(
        `There is no fixture or scenario file in ${words.join(', ')}. Name files, or folders that hold them.`,
      )
    const ok = problems.length === 0
    if (json) {
      const told = { ok, files, problems: problems.map(place), warnings: warnings.map(place) }
      process.stdout.write(jsonLine(told))
      return ok ? 0 : 1
    }
    for (const problem of problems) process.stdout.write(`${problemText(problem)}\n`)
    for (const { message, ...at } of warnings)
      process.stdout.write(`${problemText({ ...at, message: `warning: ${message}` })}\n`)
    if (ok) {
      const count = files.length === 1 ? '1 file' : `${files.length} files`
      process.stdout.write(
        `No problem in ${count}:\n${files.map((file) => `  ${printableLine(file)}\n`).join('')}`,
      )
    }
    return ok ? 0 : 1
  },
}
