// Tables of results, and their position between two markers of a page.
import { readFileSync, writeFileSync } from 'node:fs'

export function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}

export const HEAD = ['What', 'Goal', 'Median', 'Least to most', 'Outcome']

const goalOf = ({ over, under, unit = '' }) =>
  over !== undefined ? `at least ${over}${unit}` : under ? `at most ${under}${unit}` : ''

/** A line under `HEAD`. `over` and `under` are the goal, `values` the results of the rounds. */
export function lineOf(what, { over, under, unit = '', values, digits = 2 }) {
  const median = medianOf(values)
  const shown = (value) => value.toFixed(digits) + unit
  const goal = goalOf({ over, under, unit })
  const met = over !== undefined ? median >= over : median <= under
  const outcome = goal === '' ? '' : met ? 'met' : 'missed'
  const range = `${shown(Math.min(...values))} to ${shown(Math.max(...values))}`
  return [what, goal, shown(median), range, outcome]
}

const NOT_MEASURED = 'not measured'

/** A line under `HEAD` of what could not be measured, and why. */
export const lineWithout = (what, { reason, ...how }) => [
  what,
  goalOf(how),
  '–',
  '–',
  `${NOT_MEASURED}: ${reason}`,
]

/** Says which lines under `HEAD` missed their goal, and which were not measured. */
export function summaryOf(lines) {
  const goals = lines.filter(([, goal]) => goal !== '')
  const bad = goals.flatMap(([what, goal, median, , outcome]) => {
    const [word, reason] = outcome.split(': ')
    if (word === 'missed') return [`- **Missed**: ${what}. Goal: ${goal}; median: ${median}.`]
    if (word === NOT_MEASURED) return [`- **Not measured**: ${what}. Goal: ${goal}; ${reason}.`]
    return []
  })
  const count = goals.length - bad.length
  const head = `${count} of ${goals.length} goals ${count === 1 ? 'is' : 'are'} met.`
  return bad.length === 0 ? head : [head, '', ...bad].join('\n')
}

export const tableOf = (head, lines) =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** The page, and the start and end of the text between `<!-- mark -->` and `<!-- end of mark -->`. */
function between(file, mark) {
  const page = readFileSync(file, 'utf8')
  const [from, to] = [`<!-- ${mark} -->\n`, `<!-- end of ${mark} -->`]
  const [start, end] = [page.indexOf(from) + from.length, page.indexOf(to)]
  if (!page.includes(from) || end < start)
    throw new Error(`${file} has no <!-- ${mark} --> markers`)
  return { page, start, end }
}

/** Replaces the text between the markers of a page. */
export function writeBetween(file, mark, text) {
  const { page, start, end } = between(file, mark)
  writeFileSync(file, `${page.slice(0, start)}\n${text}\n\n${page.slice(end)}`)
}

/** Rows of a table, replaced by new ones with the same first cell; other new ones come last. */
export function mergedLines(lines, rows) {
  const merged = lines.map((line) => rows.find(([what]) => what === line[0]) ?? line)
  return [...merged, ...rows.filter((row) => !merged.includes(row))]
}

/** The rows of the table between the markers of a page, without its head. */
export function linesBetween(file, mark) {
  const { page, start, end } = between(file, mark)
  const lines = page.slice(start, end).split('\n')
  return lines
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) => line.slice(2, -2).split(' | '))
}
