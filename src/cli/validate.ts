import { BadOption } from '../config/options.ts'
import { jsonLine, printableLine } from '../model/printable.ts'
import type { Problem } from '../model/problem.ts'
import type { Command } from './command.ts'
import { gatherSomeOptions, START_FLAGS } from './options.ts'

const withoutPath = ({ file, line, column, message }: Problem) => ({ file, line, column, message })

export const validate: Command = {
  name: 'validate',
  summary: 'check scenario and fixture files',
  usage: [
    ['validate', 'check all files that start would read with these options'],
    ['validate FILE...', 'check these files, and all files in these folders and their subfolders'],
  ],
  flags: {
    scenarios: START_FLAGS['scenarios']!,
    fixtures: START_FLAGS['fixtures']!,
    json: ['', 'print the result as one line of JSON: ok, files, problems, warnings'],
  },
  examples: [
    'validate',
    'validate scenarios/my-first.yaml',
    'validate --scenarios ./scenarios --json',
  ],
  async run({ args, flags: { json, ...flags }, env }) {
    const { scenarios, fixtures } = gatherSomeOptions(['scenarios', 'fixtures'], flags, env)
    const [{ checkAll, checkFiles }, { problemText }] = await Promise.all([
      import('./check-files.ts'),
      import('../model/problem.ts'),
    ])
    const folders = { scenarios, fixtures }
    const { files, problems, warnings } =
      args.length > 0 ? checkFiles(args, folders) : checkAll(folders)
    // A wrong path must not make a CI job pass.
    if (files.length === 0 && problems.length === 0)
      throw new BadOption(
        `There is no fixture or scenario file in ${args.join(', ')}. Give such files, or folders that contain them.`,
      )
    const ok = problems.length === 0
    if (json) {
      const result = {
        ok,
        files,
        problems: problems.map(withoutPath),
        warnings: warnings.map(withoutPath),
      }
      process.stdout.write(jsonLine(result))
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
