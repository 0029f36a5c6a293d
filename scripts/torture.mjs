// npm run torture [-- --only kill,journal] [-- --seed 7] [-- --write]
// Runs the parts one after the other and prints one JSON line for each; --write updates scripts/torture.md.
//
// Each test file test/slow/torture/NAME.test.ts is a part. `npm run test:slow` runs its short form, and this runner its
// long form. A part imports LONG and SEED from test/slow/torture/part.ts, passes its counts to `figures({...})` there
// (several calls are merged), and succeeds if its tests pass.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tableOf, writeBetween } from '../bench/table.mjs'
import { root, temporaryFolder } from './run.mjs'

const ENDING = '.test.ts'
const PARTS = readdirSync(join(root, 'test/slow/torture'))
  .filter((name) => name.endsWith(ENDING))
  .map((name) => name.slice(0, -ENDING.length))
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: PARTS.join(',') },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
})
const only = options.only.split(',')
const unknown = only.find((part) => !PARTS.includes(part))
if (unknown !== undefined) throw new Error(`--only takes ${PARTS.join(', ')}, not ${unknown}`)
if (!/^\d{1,9}$/.test(options.seed))
  throw new Error(`--seed takes a whole number of up to 9 digits, not ${options.seed}`)

const folder = temporaryFolder('torture')

function run(part) {
  const file = join(folder, `${part}.jsonl`)
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const began = performance.now()
  const { status } = spawnSync(
    process.execPath,
    ['--expose-gc', '--import=tsx', join(root, `test/slow/torture/${part}${ENDING}`)],
    {
      // The output of the tests goes to stderr, so that stdout contains only the results.
      stdio: ['ignore', 2, 2],
      cwd: root,
      env: {
        ...env,
        TAP_TIMEOUT: '0',
        TORTURE: 'long',
        TORTURE_SEED: options.seed,
        TORTURE_FIGURES: file,
      },
    },
  )
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  return {
    part,
    seed: Number(options.seed),
    figures: Object.assign({}, ...lines.map((line) => JSON.parse(line))),
    seconds: Math.round((performance.now() - began) / 100) / 10,
    outcome: status === 0 ? 'passed' : 'failed',
  }
}

const shown = (value) => (typeof value === 'number' ? value.toLocaleString('en') : value)
const cellsOf = ({ part, seed, figures, seconds, outcome }) => {
  const counts = Object.entries(figures).map(([what, value]) => `${what}: ${shown(value)}`)
  return [part, counts.join('; '), seed, `${Math.round(seconds)} s`, outcome]
}

/** Replaces the row of this part in the table; the other rows stay. */
function write(result) {
  const file = join(root, 'scripts/torture.md')
  const found = [...readFileSync(file, 'utf8').matchAll(/^\| (\w+) \| (.+) \|$/gm)]
  const rows = new Map(found.map(([, part, rest]) => [part, [part, ...rest.split(' | ')]]))
  rows.set(result.part, cellsOf(result))
  const lines = PARTS.flatMap((part) => (rows.has(part) ? [rows.get(part)] : []))
  const table = tableOf(['Part', 'Counted', 'Seed', 'Took', 'Outcome'], lines)
  const note = `Last run on Node ${process.version}, ${process.platform} ${process.arch}.`
  writeBetween(file, 'table', `${note}\n\n${table}`)
}

for (const part of only) {
  console.error(`# ${part}, seed ${options.seed}`)
  const result = run(part)
  console.log(JSON.stringify(result))
  // Written after each part: some parts take long, and a run may be stopped.
  if (options.write) write(result)
  if (result.outcome !== 'passed') process.exitCode = 1
}
