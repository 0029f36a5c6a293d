import { existsSync } from 'node:fs'
import { BadOption } from '../config/options.ts'
import type { Problem } from '../model/errors.ts'
import { countOf, jsonLine } from '../model/words.ts'
import type { Command } from './command.ts'
import { gatherSomeOptions, START_FLAGS } from './options.ts'

const withoutPath = ({ file, line, column, message }: Problem) => ({ file, line, column, message })

export const validate: Command = {
  name: 'validate',
  summary: 'check scenario and fixture files',
  usage: [
    ['validate', 'check the files of --scenarios and --fixtures, by default the shipped ones'],
    ['validate FILE...', 'check these files and folders'],
  ],
  flags: {
    scenarios: START_FLAGS['scenarios']!,
    fixtures: START_FLAGS['fixtures']!,
    json: ['', 'print the result as one line of JSON: ok, files, shipped, problems, warnings'],
  },
  examples: [
    'validate',
    'validate scenarios/my-first.yaml',
    'validate --scenarios ./scenarios --json',
  ],
  async run({ args, flags: { json, ...flags }, env }) {
    const { scenarios, fixtures } = gatherSomeOptions(['scenarios', 'fixtures'], flags, env)
    const [{ checkFiles, checkFolders, checkShipped }, { problemText }] = await Promise.all([
      import('../tools/check-files.ts'),
      import('../model/errors.ts'),
    ])
    const folders = { scenarios, fixtures }
    // A file has no path with a slash at its end.
    const paths = args.length > 0 ? args : [scenarios && `${scenarios}/`, fixtures]
    const missing = paths.find((path) => path !== undefined && !existsSync(path))
    if (missing !== undefined)
      throw new BadOption(`There is no file or folder ${missing}. Give one that exists.`)
    function check() {
      if (args.length > 0) return { ...checkFiles(args, folders), shipped: [] }
      if (scenarios === undefined && fixtures === undefined) return checkShipped()
      return { ...checkFolders(folders), shipped: [] }
    }
    const { files, shipped, problems, warnings } = check()
    // A wrong path must not make a CI job pass.
    if (files.length + shipped.length === 0 && problems.length === 0)
      throw new BadOption(
        `There is no fixture or scenario file in ${args.length > 0 ? args.join(', ') : scenarios}. Give such files, or folders that contain them.`,
      )
    const ok = problems.length === 0
    if (json) {
      const result = {
        ok,
        files,
        shipped,
        problems: problems.map(withoutPath),
        warnings: warnings.map(withoutPath),
      }
      process.stdout.write(jsonLine(result))
      return ok ? 0 : 1
    }
    for (const problem of problems) process.stdout.write(`${problemText(problem)}\n`)
    for (const { message, ...at } of warnings)
      process.stdout.write(`${problemText({ ...at, message: `warning: ${message}` })}\n`)
    const found =
      warnings.length === 0 ? 'No problem' : `${countOf(warnings.length, 'warning')}, no error`
    const checked = countOf(
      files.length || shipped.length,
      files.length > 0 ? 'file' : 'shipped file',
    )
    if (ok) process.stdout.write(`${found} in ${checked}.\n`)
    return ok ? 0 : 1
  },
}
