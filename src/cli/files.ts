import { existsSync } from 'node:fs'
import { BadOption } from '../config/options.ts'
import type { Problem } from '../model/errors.ts'
import { countOf, jsonLine } from '../model/words.ts'
import { type Command, numberFlag, OUT_FLAG } from './command.ts'
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
  syntax: '[FILE...]',
  async run(input) {
    const { args, flags } = input
    const { scenarios, fixtures } = gatherSomeOptions(['scenarios', 'fixtures'], input)
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
    if (flags['json']) {
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

// Account and mobile numbers contain the index of the user in nine digits, and larger files serve no purpose.
const MAX_USERS = 10_000_000

export const generate: Command = {
  name: 'generate',
  isTool: true,
  summary: 'print generated fixtures for --fixtures',
  usage: [
    [
      'generate --users N',
      'print a fixture file with N users, their KYC records, bank accounts and payments',
    ],
  ],
  flags: {
    users: ['N', 'number of users (required)'],
    'random-seed': START_FLAGS['random-seed']!,
    ...OUT_FLAG,
  },
  examples: [
    'generate --users 1000 --random-seed 7 --out fixtures.json',
    'start --memory --fixtures fixtures.json',
  ],
  async run(input) {
    const count = numberFlag(input.flags, 'users', 1, MAX_USERS)
    if (count === undefined) throw new BadOption('generate needs --users N, such as --users 1000')
    const { 'random-seed': seed } = gatherSomeOptions(['random-seed'], input)
    const { fixtureText } = await import('../tools/generated-rows.ts')
    return fixtureText(count, seed)
  },
}
