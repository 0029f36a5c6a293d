import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { gatherOptions } from '../../src/cli/options.ts'
import { openContent } from '../../src/server.ts'
import { faultsOf } from '../../src/sweep/faults.ts'
import { judge } from '../../src/sweep/judge.ts'
import { startRun } from '../../src/sweep/start-run.ts'
import type { Plan } from '../../src/sweep/types.ts'

const DEADLINE_MS = 30_000
const MAX_RETRIES = 20
const client = join(fileURLToPath(new URL('.', import.meta.url)), 'clients/run.mjs')
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Runs a client without faults and under some plans, and returns the verdicts. A fault is `name operation nth`. */
async function verdictsOf(t: Test, plans: readonly (readonly string[])[], bug?: string) {
  const options = gatherOptions({ port: '0', memory: true, clock: 'frozen' }, {})
  const setup = {
    command: [process.execPath, client, ...(bug === undefined ? [] : ['--bug', bug])],
    env: process.env,
    options,
    ...(await openContent(options, silent)),
    signal: new AbortController().signal,
  }
  const folder = t.testdir({})
  let runs = 0
  const run = (plan: Plan) =>
    startRun(setup, plan, {
      deadlineMs: DEADLINE_MS,
      level: 0,
      recording: join(folder, `run-${++runs}.ndjson`),
    })
  const baseline = await run([])
  if (baseline.exitCode !== 0) throw new Error(`fails without a fault: ${baseline.output}`)
  const faults = faultsOf(baseline, 'first-last', {})
  const faultOf = (text: string) => {
    const found = faults.find(
      ({ name, operation, nth }) => text === name || text === `${name} ${operation} ${nth}`,
    )
    if (found === undefined) throw new Error(`no fault is ${text}`)
    return found
  }
  const judging = {
    baselines: [baseline, baseline],
    maxRetries: MAX_RETRIES,
    deadlineMs: DEADLINE_MS,
    hasProbe: false,
  }
  const verdicts: string[] = []
  for (const names of plans) {
    const plan = names.map(faultOf)
    verdicts.push(judge(plan, await run(plan), judging).verdict)
  }
  return verdicts
}

const LOST = 'answer_lost createTransaction 1'
const SWAPPED = 'out_of_order transaction.processing 1'
const FORGED = 'forged transaction.success 1'

t.test('the careful client passes', async (t) => {
  const verdicts = await verdictsOf(t, [[LOST], [SWAPPED], [FORGED]])
  t.strictSame(verdicts, ['passed', 'passed', 'passed'])
})

for (const [bug, plan, verdict] of [
  ['pays_again_without_looking_up', [LOST], 'paid_twice'],
  ['last_event_wins', [SWAPPED], 'relies_on'],
  ['verifies_no_signature', [FORGED], 'accepted_forged'],
] as const)
  t.test(`${bug} is ${verdict}`, async (t) => {
    t.strictSame(await verdictsOf(t, [plan], bug), [verdict])
  })

// Sweeps of all clients take minutes: `npm run bench:sweep` makes them.
