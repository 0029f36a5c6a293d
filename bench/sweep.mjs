// npm run bench:sweep [-- --only careful,last_event_wins] [-- --rounds 1]: sweeps the integrations of test/slow/sweep/strangers, careful and
// with one planted bug each, at default settings, and prints which bugs were found.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../scripts/run.mjs'

const program = join(root, 'dist/bin.cjs')
const strangers = join(root, 'test/slow/sweep/strangers')
const CAREFUL = 'careful'
const LEAST = 0.9

const { values } = parseArgs({
  options: { only: { type: 'string' }, rounds: { type: 'string', default: '2' } },
})
// It slows every start of Node 20.
delete process.env.NODE_EXTRA_CA_CERTS

/** The variants of the strangers' clients. A bug is found by what the careful client doesn't show. */
function variantsOf() {
  const flagsOf = ({ books, workers }) => [
    ...(books ? ['--ledger', books.join(' ')] : []),
    ...(workers ? ['--workers', String(workers)] : []),
  ]
  const commands = JSON.parse(readFileSync(join(strangers, 'commands.json'), 'utf8'))
  const bugs = JSON.parse(readFileSync(join(strangers, 'bugs.json'), 'utf8'))
  const clients = Object.keys(commands).map((client) => ({ client, name: CAREFUL }))
  return [...clients, ...bugs].map(({ client, name, class: group }) => ({
    name: `${client} ${name}`,
    group,
    cwd: join(strangers, client),
    command: commands[client].test,
    flags: flagsOf(commands[client]),
    env: name === CAREFUL ? {} : { BUG: name },
  }))
}

/** Sweeps one variant once. */
function sweep({ name, cwd, command, flags, env }) {
  const begun = performance.now()
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, 'sweep', '--clock', 'frozen', '--json', ...flags, '--', ...command],
    { cwd, encoding: 'utf8', maxBuffer: 1 << 28, env: { ...process.env, ...env } },
  )
  if (status !== 0 && status !== 1) {
    console.error(`${name} can't be swept: ${stderr}`)
    return { runs: [], untried: [], findings: [], seconds: 0 }
  }
  return { ...JSON.parse(stdout), seconds: (performance.now() - begun) / 1_000 }
}

const isBad = ({ level }) => level === 'error' || level === 'warning'
/** Of a finding, what must be equal in each sweep of the same command. */
const keyOf = ({ verdict, plan }) => `${verdict} ${plan.map(({ name }) => name).join(' + ')}`
const careful = new Map()

function measure(variant) {
  const rounds = Array.from({ length: Number(values.rounds) }, () => sweep(variant))
  const { runs, untried, findings } = rounds[0]
  const bad = findings.filter(isBad)
  const isCareful = variant.name.endsWith(CAREFUL)
  if (isCareful) careful.set(variant.cwd, new Set(bad.map(keyOf)))
  const shown = bad.filter((one) => !careful.get(variant.cwd)?.has(keyOf(one)))
  const keys = rounds.map((one) => JSON.stringify(one.findings.map(keyOf).sort()))
  return {
    ...variant,
    isCareful,
    isFound: shown.length > 0,
    wrong: isCareful ? bad.length : 0,
    isEqual: new Set(keys).size === 1,
    most: Math.max(0, ...findings.map(({ plan }) => plan.length)),
    text: `${bad.map(keyOf).join(', ') || 'nothing'}, ${runs.length} of ${runs.length + untried.length} runs, ${rounds[0].seconds.toFixed(0)} s`,
  }
}

const variants = variantsOf()
const bugOf = ({ name }) => name.split(' ').at(-1)
const foundOf = (some) => some.filter(({ isFound }) => isFound).length
const only = values.only?.split(',') ?? variants.map(bugOf)
const unknown = only.find((name) => variants.every((one) => bugOf(one) !== name))
if (unknown !== undefined)
  throw new Error(`--only takes ${[...new Set(variants.map(bugOf))].join(', ')}, not ${unknown}`)
const results = variants
  .filter((variant) => only.includes(bugOf(variant)))
  .map((variant) => {
    const result = measure(variant)
    const { isCareful, isFound, isEqual, text } = result
    console.log(
      `${variant.name}: ${text}${isCareful || isFound ? '' : ', NOT FOUND'}${isEqual ? '' : ', NOT EQUAL'}`,
    )
    return result
  })
const bugs = results.filter(({ isCareful }) => !isCareful)
for (const group of new Set(bugs.map((one) => one.group))) {
  const same = bugs.filter((one) => one.group === group)
  console.log(`${group}: ${foundOf(same)} of ${same.length}`)
}
const found = foundOf(bugs)
const wrong = results.reduce((sum, one) => sum + one.wrong, 0)
const equal = results.filter(({ isEqual }) => isEqual).length
const most = Math.max(0, ...results.map((one) => one.most))
console.log(
  `${found} of ${bugs.length} bugs found, ${wrong} findings in careful clients, at most ${most} faults in a plan, ${equal} of ${results.length} equal in all rounds`,
)
const isGood = wrong === 0 && most <= 2 && equal === results.length && found >= LEAST * bugs.length
process.exitCode = isGood ? 0 : 1
