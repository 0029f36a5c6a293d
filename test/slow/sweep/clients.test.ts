import { join } from 'node:path'
import t from 'tap'
import { gatherOptions } from '../../../src/cli/options.ts'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { openContent } from '../../../src/server.ts'
import { faultsOf } from '../../../src/tools/sweep/faults.ts'
import type { Plan } from '../../../src/tools/sweep/faults-and-findings.ts'
import { judge } from '../../../src/tools/sweep/judge.ts'
import { startRun } from '../../../src/tools/sweep/start-run.ts'

const DEADLINE_MS = 30_000
const MAX_RETRIES = 20
const client = join(PACKAGE_ROOT, 'test/slow/sweep/clients/run.mjs')
const silent = { debug() {}, info() {}, warn() {}, error() {} }

const options = gatherOptions({ port: '0', memory: true, clock: 'frozen' }, {})
const content = openContent(options, silent)

/** Runs a client under a plan. */
const run = async (plan: Plan, bug: string[] = []) =>
  startRun(
    {
      command: [process.execPath, client, ...bug],
      env: process.env,
      options,
      ...(await content),
      signal: new AbortController().signal,
    },
    plan,
    DEADLINE_MS,
  )

let withoutFaults: ReturnType<typeof run> | undefined

/** Runs a client with some faults, and returns the verdict. A fault is `name operation nth`. */
async function verdictOf(texts: readonly string[], bug?: string) {
  // The copies do the same as the careful client if nothing goes wrong.
  withoutFaults ??= run([])
  const baseline = await withoutFaults
  if (baseline.exitCode !== 0) throw new Error(`fails without a fault: ${baseline.output}`)
  const faults = faultsOf(baseline, 'first-last', { inForce: {}, clockSpeed: 1 })
  const faultOf = (text: string) => {
    const found = faults.find(({ name, operation, nth }) => text === `${name} ${operation} ${nth}`)
    if (found === undefined) throw new Error(`no fault is ${text}`)
    return found
  }
  const judging = {
    baselines: [baseline, baseline],
    maxRetries: MAX_RETRIES,
    hasProbe: false,
  }
  const plan = texts.map(faultOf)
  return judge(plan, await run(plan, bug === undefined ? [] : ['--bug', bug]), judging)
}

const LOST = 'reset_after createTransaction 1'
const SWAPPED = 'hold_until transaction.processing 1'
const FORGED = 'signature_wrong transaction.success 1'

t.test('the careful client passes, also if all of it happens together', async (t) => {
  t.match(await verdictOf([LOST, SWAPPED, FORGED]), { verdict: 'passed', level: 'none' })
})

for (const [bug, fault, verdict] of [
  ['pays_again_without_looking_up', LOST, 'paid_twice'],
  ['last_event_wins', SWAPPED, 'relies_on'],
  ['verifies_no_signature', FORGED, 'accepted_forged'],
] as const)
  t.test(`${bug} is ${verdict}`, async (t) => {
    t.match(await verdictOf([fault], bug), { verdict, level: 'error' })
  })

// `npm run bench:sweep` sweeps all clients, which takes long.
