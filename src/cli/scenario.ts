import type { Expectation, PreviousScenario } from '../services/scenarios.ts'
import { remoteCommand } from './remote.ts'
import { oneLine, table } from './table.ts'

type Listed = {
  scenarios: { name: string; title: string | null; active: boolean }[]
  problems: string[]
}
type Active = {
  name: string
  title: string | null
  rules: { name: string; hits: number }[]
  expect: Expectation[]
  left?: PreviousScenario[]
}

const nameOf = ({ name, title }: Pick<Active, 'name' | 'title'>) =>
  oneLine(title === null ? name : `${name}: ${title}`)

/** `1`, `at least 1`, `at most 3`, `1 to 3`. */
function wanted({ at_least: atLeast, at_most: atMost }: Expectation): string {
  if (atLeast === atMost) return String(atLeast)
  if (atMost === undefined) return `at least ${atLeast}`
  return atLeast === undefined ? `at most ${atMost}` : `${atLeast} to ${atMost}`
}

/** What is expected, a line for each operation. */
export const expectTable = (expect: readonly Expectation[]): string =>
  table(
    ['expected', 'requests', 'found', 'met'],
    expect.map((one) => [one.operation, wanted(one), one.found, one.met ? 'yes' : 'no']),
    '',
  )

function activeText({ rules, expect, left = [], ...active }: Active): string {
  const hits = rules.map(({ name, hits }) => [name, hits])
  return [
    `${nameOf(active)}\n`,
    hits.length > 0 ? `\n${table(['rule', 'hits'], hits, '')}` : '',
    expect.length > 0 ? `\n${expectTable(expect)}` : '',
    ...left.map((one) => `\n${one.name} was left before it had:\n${expectTable(one.expect)}`),
  ].join('')
}

export const scenario = remoteCommand({
  name: 'scenario',
  summary: 'list the scenarios of a running sandbox, show the active one, or activate another',
  verbs: {
    list: {
      takes: '',
      does: 'the scenarios there are; * is the active one',
      async run(api) {
        const answer: Listed = await api('GET', '/scenarios')
        const rows = answer.scenarios.map(({ name, title, active }) => [
          active ? '*' : '',
          name,
          title,
        ])
        const problems = answer.problems.map((line) => `${oneLine(line)}\n`).join('')
        const told =
          problems && `\nThe files were changed and refused; this is the last good set:\n`
        return { answer, text: table(['', 'name', 'title'], rows, 'none') + told + problems }
      },
    },
    show: {
      takes: '',
      does: 'the active one, how often each rule acted, and what it expects',
      async run(api) {
        const answer: Active = await api('GET', '/scenario')
        return { answer, text: activeText(answer) }
      },
    },
    use: {
      takes: 'NAME',
      does: 'activate a scenario; its counters and its timeline start anew',
      async run(api, [name]) {
        const answer: Active = await api('PUT', '/scenario', { name })
        return { answer, text: `${nameOf(answer)} (active)\n` }
      },
    },
  },
  examples: [
    'scenario list',
    'scenario use provider-outage',
    'scenario use slow --url http://127.0.0.1:4310/@worker-3',
    'scenario show --json',
  ],
})
