// The results of all servers: ratios, goals, tables. Pure functions, so that tests need no server.
import { lineOf, lineWithout, medianOf } from '../table.mjs'

export const SIZES = [100, 10_000, 100_000]
/** The goals of starts, as ratios to node:http: from the folder of the build, and from the package. */
export const MAX_START = { clone: 2.4, package: 5 }
const CREATE_GOALS = { 100: 20, 10000: 200, 100000: 2_000 }
const US = 'payout-sandbox'

const grouped = (number) => number.toLocaleString('en')
const threeDigits = (number) => grouped(Number(number.toPrecision(3)))

/** The ratio of `a` to `b` per round: other load on the machine affects both servers of a round. */
const quotients = (a, b) => a.map((value, round) => value / b[round])

/** The server that is nearest to the sandbox, with the ratio per round; `undefined` if none was measured. */
function nearest(byName, servers) {
  const found = servers
    .filter(({ name }) => byName[name] && byName[US])
    .map(({ title, name }) => ({ title, values: quotients(byName[US], byName[name]) }))
    .sort((a, b) => medianOf(a.values) - medianOf(b.values))
  return found[0]
}

const rivalsOf = (servers) => servers.filter(({ limit, name }) => !limit && name !== US)

/** The goals of starts on one Node, as lines of a table. `reason` says why starts were not measured. */
export function startGoalsOf(start, servers, { under, on = '', reason }) {
  const lineFor = (what, [one, other], goal) => {
    if (start[one] && start[other])
      return [lineOf(what, { ...goal, values: quotients(start[one], start[other]) })]
    return reason ? [lineWithout(what, { ...goal, reason })] : []
  }
  const ofRival = ({ name, title }) =>
    lineFor(`Start of ${title} ÷ start of the sandbox${on}`, [name, US], { over: 1 })
  return [
    ...lineFor(`Start to first 200 ÷ node:http${on}`, [US, 'node-http'], { under }),
    ...rivalsOf(servers).flatMap(ofRival),
  ]
}

/**
 * The goals as lines of a table. `figures` has `start` (ms), `read`, `list` and, by rows, `create` (a second): for each
 * server by its name the values of the rounds.
 */
export function goalsOf(figures, servers) {
  const rivals = rivalsOf(servers)
  const keeping = rivals.filter(({ keeps }) => keeps === 'disk')
  const lines = startGoalsOf(figures.start, servers, { under: MAX_START.clone })
  const atLeast = (over, best, what) => {
    if (best) lines.push(lineOf(what(best.title), { over, values: best.values }))
  }
  atLeast(4, nearest(figures.read, rivals), (rival) => `Read one user ÷ ${rival}`)
  atLeast(4, nearest(figures.list, rivals), (rival) => `List ten users ÷ ${rival}`)
  for (const [size, byName] of Object.entries(figures.create)) {
    const what = (rival) => `Create at ${grouped(Number(size))} rows ÷ ${rival}`
    atLeast(CREATE_GOALS[size], nearest(byName, keeping), what)
  }
  const limit = servers.filter(({ name }) => name === 'node-http')
  const ofLimit = (over, what, byName) =>
    atLeast(over, nearest(byName, limit), (title) => `${what} ÷ ${title}`)
  ofLimit(0.85, 'Read one user', figures.read)
  ofLimit(0.85, 'List ten users', figures.list)
  for (const [size, byName] of Object.entries(figures.create))
    ofLimit(0.6, `Create at ${grouped(Number(size))} rows`, byName)
  return lines
}

export const SERVERS_HEAD = [
  'Server',
  'Keeps rows',
  'Start, ms',
  'MB at start',
  'Read one, /s',
  'List ten, /s',
  ...SIZES.map((size) => `Create at ${grouped(size)}, /s`),
  `MB at ${grouped(SIZES.at(-1))}`,
]

const KEEPS = { disk: 'on disk', memory: 'in memory', nothing: 'no' }

/** A row for each server: medians, and in brackets how many times better the sandbox is. `on` names another Node. */
export function serversOf(figures, servers, on = '') {
  const cell = (byName, name, less) => {
    const values = byName?.[name]
    if (!values) return '–'
    const shown = threeDigits(medianOf(values))
    if (name === US || !byName[US]) return shown
    const times = less ? quotients(values, byName[US]) : quotients(byName[US], values)
    return `${shown} (${Number(medianOf(times).toPrecision(2)).toLocaleString('en')}×)`
  }
  return servers.map(({ name, title, keeps }) => [
    (name === US ? `**${title}**` : title) + on,
    KEEPS[keeps],
    cell(figures.start, name, true),
    cell(figures.memory, name, true),
    cell(figures.read, name),
    cell(figures.list, name),
    // A fixed response is the same at each size.
    ...SIZES.map((size) => cell(figures.create[size], name)),
    cell(figures.memoryLarge, name, true),
  ])
}
