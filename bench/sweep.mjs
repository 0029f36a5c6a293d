// npm run bench:sweep [-- --only careful,last_event_wins] [-- --whole]: sweeps the careful client of
// test/sweep/clients with all faults, and each copy with a planted bug with the faults that concern the part with the bug, and
// prints what was found. The whole plan of a copy has more faults, so it finds no fewer bugs; --whole runs it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BUGS } from '../test/sweep/clients/bugs.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const program = join(root, 'dist/bin.cjs')
const client = join(root, 'test/sweep/clients/run.mjs')
const CAREFUL = 'careful'
const MAX_RUNS_OF_PAIRS = 30
const MAX_OUTPUT = 1 << 28

const names = [CAREFUL, ...BUGS.map(({ name }) => name)]
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: names.join(',') },
    rounds: { type: 'string', default: '2' },
    whole: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
    timeout: { type: 'string', default: '10s' },
  },
})
const only = values.only.split(',')
const unknown = only.find((name) => !names.includes(name))
if (unknown !== undefined) throw new Error(`--only takes ${names.join(', ')}, not ${unknown}`)

// It slows every start of Node 20, and a sweep starts many.
delete process.env.NODE_EXTRA_CA_CERTS
// A folder of its own, so that no configuration file counts.
const cwd = mkdtempSync(join(tmpdir(), 'payout-sandbox-sweeps-'))
process.on('exit', () => rmSync(cwd, { recursive: true, force: true }))

/** Sweeps one client once. */
function sweep(name) {
  const found = BUGS.find((bug) => bug.name === name)
  const { points = 'first', depth = 1, faults } = found ?? {}
  const options = {
    ...{ jobs: values.jobs, timeout: values.timeout, points, depth },
    ...(faults &&
      !values.whole && { only: faults, ...(depth > 1 && { 'max-runs': MAX_RUNS_OF_PAIRS }) }),
  }
  const limits = Object.entries(options).flatMap(([option, value]) => [`--${option}`, `${value}`])
  const bug = found ? ['--bug', name] : []
  const command = [process.execPath, client, ...bug]
  const begun = performance.now()
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, 'sweep', '--clock', 'frozen', '--json', ...limits, '--', ...command],
    { cwd, encoding: 'utf8', maxBuffer: MAX_OUTPUT },
  )
  if (status !== 0 && status !== 1) throw new Error(`the sweep of ${name} failed: ${stderr}`)
  return { ...JSON.parse(stdout), seconds: (performance.now() - begun) / 1_000 }
}

/** What must be equal in each sweep of the same command. */
const comparable = ({ verdicts, findings }) =>
  JSON.stringify({
    verdicts: Object.entries(verdicts).sort(),
    findings: findings.map(({ verdict, plan }) => [verdict, plan]),
  })

function measure(name) {
  const rounds = Array.from({ length: Number(values.rounds) }, () => sweep(name))
  const { runs, findings } = rounds[0]
  const expected = BUGS.find((bug) => bug.name === name)?.expectedVerdicts ?? []
  const verdicts = [...new Set(findings.map(({ verdict }) => verdict))]
  return {
    name,
    runs: runs.length,
    findings,
    verdicts,
    isFound: verdicts.some((verdict) => expected.includes(verdict)),
    isEqual: new Set(rounds.map(comparable)).size === 1,
    seconds: Math.max(...rounds.map((one) => one.seconds)),
    sizes: findings.map(({ plan }) => plan.length),
  }
}

const results = []
for (const name of names.filter((one) => only.includes(one))) {
  const result = measure(name)
  results.push(result)
  const { isFound, verdicts, findings, runs, seconds, isEqual } = result
  const notes = [
    isEqual ? '' : ', NOT EQUAL',
    isFound || name === CAREFUL ? '' : ', NOT FOUND',
    name === CAREFUL && findings.length > 0 ? `, WRONG: ${JSON.stringify(findings, null, 1)}` : '',
  ]
  const what = verdicts.join(', ') || 'nothing'
  console.log(`${name}: ${what}, ${runs} runs, ${seconds.toFixed(0)} s${notes.join('')}`)
}
const bugs = results.filter(({ name }) => name !== CAREFUL)
const found = bugs.filter(({ isFound }) => isFound).length
const wrong = results.find(({ name }) => name === CAREFUL)?.findings.length ?? 0
const equal = results.filter(({ isEqual }) => isEqual).length
const most = Math.max(0, ...results.flatMap(({ sizes }) => sizes))
console.log(
  `${found} of ${bugs.length} bugs found, ${wrong} findings in the careful client, at most ${most} faults in a plan, ${equal} of ${results.length} equal in all rounds`,
)
const isGood = found >= 0.95 * bugs.length && wrong === 0 && most <= 2 && equal === results.length
process.exitCode = isGood ? 0 : 1
