import { join } from 'node:path'
import type { ResponseBody } from '../admin/caller.ts'
import { readText } from '../config/files.ts'
import { BadOption } from '../config/options.ts'
import { PACKAGE_ROOT } from '../config/package.ts'
import { oneLine, table } from '../tools/report/table.ts'
import { OUT_FLAG } from './command.ts'
import { gatherSomeOptions, START_FLAGS } from './options.ts'
import { refuseClientOfAll, remoteCommand, shown } from './remote.ts'

type ActiveScenario = ResponseBody<'getScenario'>
type Expectation = ActiveScenario['expect'][number]

const titleText = ({ name, title }: Pick<ActiveScenario, 'name' | 'title'>) =>
  oneLine(title === null ? name : `${name}: ${title}`)

/** The expected number of requests: `1`, `at least 1`, `at most 3` or `1 to 3`. */
export function expectedCount({ at_least: atLeast, at_most: atMost }: Expectation): string {
  if (atLeast === atMost) return String(atLeast)
  if (atMost === undefined) return `at least ${atLeast}`
  return atLeast === undefined ? `at most ${atMost}` : `${atLeast} to ${atMost}`
}

export const expectTable = (expect: readonly Expectation[]): string =>
  table(
    ['expected', 'requests', 'found', 'met'],
    expect.map((one) => [one.operation, expectedCount(one), one.found, one.met ? 'yes' : 'no']),
    '',
  )

const imposedText = ({ imposed }: ActiveScenario) =>
  imposed === undefined ? '' : `${imposed}, which exec or a sweep imposes, lies above it\n`

function activeText(active: ActiveScenario): string {
  const { rules, expect, previous = [] } = active
  const hits = rules.map(({ name, hits }) => [name, hits])
  return [
    `${titleText(active)}\n`,
    imposedText(active),
    hits.length > 0 ? `\n${table(['rule', 'hits'], hits, '')}` : '',
    expect.length > 0 ? `\n${expectTable(expect)}` : '',
    ...previous.map(
      (one) => `\nunmet when scenario ${one.name} was replaced:\n${expectTable(one.expect)}`,
    ),
  ].join('')
}

/** The text of a scenario file: of the folder of `--scenarios`, or else a shipped one. */
async function sourceOf(name: string, folder: string | undefined): Promise<string> {
  const { nameOfFile, scenarioTree, statOf } = await import('../scenarios/scenario-files.ts')
  const { unknownScenarioMessage } = await import('../scenarios/references.ts')
  const filesIn = (one: string) => {
    try {
      const files = scenarioTree(one).files.map((file) => join(one, file))
      return files.filter((file) => statOf(file)?.isFile())
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new BadOption(
        `--scenarios ${one} cannot be read (${code}). Give a folder of scenarios.`,
      )
    }
  }
  const own = folder === undefined ? [] : filesIn(folder)
  const files = [...own, ...filesIn(join(PACKAGE_ROOT, 'scenarios'))]
  const file = files.find((one) => nameOfFile(one) === name)
  try {
    if (file !== undefined) return readText(file)
  } catch (error) {
    throw new BadOption(`${file} ${(error as Error).message}`)
  }
  throw new BadOption(unknownScenarioMessage(name, [...new Set(files.map(nameOfFile))].sort()))
}

export const scenario = remoteCommand({
  name: 'scenario',
  summary: 'list, show and activate scenarios of a running sandbox, or print the source of one',
  subcommands: {
    list: {
      description: 'list all scenarios; * marks the active one',
      run: (api) =>
        shown(api('listScenarios'), ({ scenarios, problems }) => {
          const rows = scenarios.map(({ name, title, active }) => [active ? '*' : '', name, title])
          const lines = problems.map((line) => `${oneLine(line)}\n`).join('')
          const notice =
            lines &&
            '\nThe changed scenario files have errors, so the sandbox still uses the previous ones:\n'
          return table(['', 'name', 'title'], rows, 'none') + notice + lines
        }),
    },
    show: {
      description:
        "show the active scenario, its rules' hits and expectations; with --all the start scenario, over all clients",
      flags: { all: ['', 'the start scenario, with the hits and calls of all clients'] },
      async run(api, _args, flags) {
        refuseClientOfAll('scenario show', flags)
        const client = flags['all'] ? '*' : undefined
        return shown(api('getScenario', { query: { client } }), activeText)
      },
    },
    use: {
      syntax: 'NAME',
      description: 'activate a scenario, with counters and timeline at the start',
      run: (api, [name]) =>
        shown(
          api('setScenario', { body: { name } }),
          (active) => `${titleText(active)} (active)\n${imposedText(active)}`,
        ),
    },
    print: {
      syntax: 'NAME',
      description: "print a scenario's YAML, as a start for your own",
      flags: { scenarios: START_FLAGS['scenarios']!, ...OUT_FLAG },
      async print([name], input) {
        const { scenarios } = gatherSomeOptions(['scenarios'], input)
        return sourceOf(name!, scenarios)
      },
    },
  },
  examples: [
    'scenario list',
    'scenario use provider-outage',
    'scenario use slow --url http://127.0.0.1:4310/@worker-3',
    'scenario show --json',
    'scenario print provider-outage --out scenarios/my-first.yaml',
  ],
})

type Assumption = ResponseBody<'listAssumptions'>['assumptions'][number]

const readingsTable = (assumptions: readonly Assumption[]): string =>
  table(
    ['assumption', 'reading', 'from', 'other readings'],
    assumptions.map(({ name, reading, source, readings }) => [
      name,
      reading,
      source,
      readings
        .map((one) => one.reading)
        .filter((one) => one !== reading)
        .join(', '),
    ]),
    '',
  )

/** Splits `name=reading`; `name=` undoes an earlier choice. */
function changeOf(text: string): [string, string | null] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1) || null]
  throw new BadOption(
    `assumptions set takes NAME=READING, such as idempotency_key=honoured, not ${JSON.stringify(text)}`,
  )
}

export const assumptions = remoteCommand({
  name: 'assumptions',
  summary: 'show or choose the readings of a running sandbox',
  subcommands: {
    list: {
      description: 'list the assumptions, the reading in force, and where it comes from',
      run: (api) => shown(api('listAssumptions'), (all) => readingsTable(all.assumptions)),
    },
    set: {
      syntax: 'NAME=READING...',
      description: 'choose readings; NAME= undoes an earlier choice',
      async run(api, args) {
        const changes = Object.fromEntries(args.map(changeOf))
        return shown(api('setAssumptions', { body: changes }), (all) =>
          readingsTable(all.assumptions.filter(({ name }) => Object.hasOwn(changes, name))),
        )
      },
    },
  },
  examples: [
    'assumptions list',
    'assumptions set idempotency_key=honoured',
    'assumptions set idempotency_key= --client worker-3',
  ],
})
