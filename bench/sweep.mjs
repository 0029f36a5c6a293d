// npm run bench:sweep [-- --only careful,last_event_wins] [-- --whole] [-- --write]: sweeps the careful client of
// test/sweep/clients with all faults, and each copy with a planted bug with the faults that concern the part with the bug, and
// prints what was found. The whole plan of a copy has more faults, so it finds no fewer bugs; --whole runs it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readOptions, selectedOf } from '../scripts/command-options.mjs'
import { BUGS } from '../test/sweep/clients/bugs.mjs'
import { lineOf, medianOf, HEAD as SUMMARY_HEAD, tableOf, writeBetween } from './table.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const PAGE = join(root, 'docs/performance.md')
const program = join(root, 'dist/bin.cjs')
const client = join(root, 'test/sweep/clients/run.mjs')
const CAREFUL = 'careful'
const MAX_RUNS_OF_PAIRS = 30
const MAX_OUTPUT = 1 << 28

const names = [CAREFUL, ...BUGS.map(({ name }) => name)]
const { only, ...values } = readOptions(
  `Usage: npm run bench:sweep [-- --only ${names.join(',')}] [-- --rounds 2] [-- --whole] [-- --jobs 2] [-- --timeout 10s] [-- --write]`,
  {
    only: { type: 'string' },
    rounds: { type: 'string', default: '2' },
    whole: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
    timeout: { type: 'string', default: '10s' },
    write: { type: 'boolean', default: false },
  },
  (given) => {
    const selected = selectedOf(given.only, names)
    if (given.write && selected.length < names.length)
      throw new Error('--write needs all clients; leave out --only')
    return { ...given, only: selected }
  },
)

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
const comparable = ({ runs, verdicts, findings }) =>
  JSON.stringify({
    runs,
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
    runs,
    findings,
    verdicts,
    isFound: verdicts.some((verdict) => expected.includes(verdict)),
    isEqual: new Set(rounds.map(comparable)).size === 1,
    seconds: Math.max(...rounds.map((one) => one.seconds)),
    sizes: findings.map(({ plan }) => plan.length),
  }
}

const HEAD = ['Client', 'Found', 'Verdicts', 'Findings', 'Runs', 'Time', 'Equal twice']
const yes = (isTrue) => (isTrue ? 'yes' : 'no')
const results = []
for (const name of names.filter((one) => only.includes(one))) {
  const result = measure(name)
  results.push(result)
  const { isFound, verdicts, findings, runs, seconds, isEqual } = result
  console.error(
    `${name}: ${verdicts.join(', ') || 'nothing'}, ${runs} runs, ${seconds.toFixed(0)} s${isEqual ? '' : ', not equal'}${isFound || name === CAREFUL ? '' : ', NOT FOUND'}${name === CAREFUL && findings.length > 0 ? `: ${JSON.stringify(findings, null, 1)}` : ''}`,
  )
}

const lines = results.map(({ name, isFound, verdicts, findings, runs, seconds, isEqual }) => [
  name,
  name === CAREFUL ? '' : yes(isFound),
  verdicts.join(', '),
  findings.length,
  runs,
  `${seconds.toFixed(0)} s`,
  yes(isEqual),
])
const bugs = results.filter(({ name }) => name !== CAREFUL)
const careful = results.filter(({ name }) => name === CAREFUL)
const found = bugs.filter(({ isFound }) => isFound)
const share = (part, all) => (100 * part.length) / Math.max(1, all.length)
const whole = { digits: 0 }
const summary = [
  ...(bugs.length > 0
    ? [
        lineOf(`bugs found, of ${bugs.length}`, {
          over: 95,
          unit: ' %',
          values: [share(found, bugs)],
          ...whole,
        }),
      ]
    : []),
  ...careful.map(({ findings: { length } }) => [
    'findings in the careful client',
    '0',
    String(length),
    String(length),
    length === 0 ? 'met' : 'missed',
  ]),
  ...(found.length > 0
    ? [
        lineOf('faults in the plan of a finding', {
          under: 2,
          values: found.map(({ sizes }) => medianOf(sizes)),
          ...whole,
        }),
      ]
    : []),
  lineOf('sweeps with equal results in two runs', {
    over: 100,
    unit: ' %',
    values: [
      share(
        results.filter(({ isEqual }) => isEqual),
        results,
      ),
    ],
    ...whole,
  }),
]
const date = new Date().toISOString().slice(0, 10)
const text = `Measured on ${date}.\n\n${tableOf(SUMMARY_HEAD, summary)}\n\n${tableOf(HEAD, lines)}`
console.log(text)
if (values.write) writeBetween(PAGE, 'sweep', text)
process.exitCode = summary.some((cells) => cells.includes('missed')) ? 1 : 0
