import type { ResponseBody } from '../admin/contract.ts'
import { BadOption } from '../config/options.ts'
import { table } from './output.ts'
import { remoteCommand } from './remote.ts'

type Assumption = ResponseBody<'listAssumptions'>['assumptions'][number]

/** The readings as a table. */
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
  summary: 'show or choose how a running sandbox reads the open points of the contract',
  subcommands: {
    list: {
      syntax: '',
      description: 'list the assumptions, the reading in force, and where it comes from',
      async run(api) {
        const response = await api('listAssumptions')
        return { response, text: readingsTable(response.assumptions) }
      },
    },
    set: {
      syntax: 'NAME=READING...',
      description: 'choose readings; NAME= undoes an earlier choice',
      async run(api, args) {
        const changes = Object.fromEntries(args.map(changeOf))
        const response = await api('setAssumptions', { body: changes })
        const changed = response.assumptions.filter(({ name }) => Object.hasOwn(changes, name))
        return { response, text: readingsTable(changed) }
      },
    },
  },
  examples: [
    'assumptions list',
    'assumptions set idempotency_key=honoured',
    'assumptions set idempotency_key= --client worker-3',
  ],
})
