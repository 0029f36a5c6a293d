import { programEnvironment } from '../config/environment.ts'
import { BadOption } from '../config/options.ts'
import type { Input } from './command.ts'
import { START_FLAGS } from './options.ts'

// Each run is in memory, with coverage of its own.
const NOT_OF_RUNS = new Set([
  ...['data', 'memory', 'watch', 'fsync', 'state'],
  ...['reset', 'coverage', 'log-level', 'log-format'],
])
export const SANDBOX_FLAGS = Object.fromEntries(
  Object.entries(START_FLAGS).filter(([name]) => !NOT_OF_RUNS.has(name)),
)

// The client of a sandbox that already runs, if the URL names none.
const SWEEP_CLIENT = 'sweep'

/** The client of a sandbox that already runs, if the command line names one. Resets it. Throws `BadOption`. */
export async function runningOf(input: Input) {
  const { flags, env } = input
  if (flags['url'] === undefined) return undefined
  const other = Object.keys(flags).find(
    (name) => name === 'restart' || (Object.hasOwn(SANDBOX_FLAGS, name) && name !== 'admin-token'),
  )
  if (other !== undefined)
    throw new BadOption(`--url excludes --${other}: start the sandbox that runs with what it needs`)
  const [{ connect, namesClient, targetOf }, { adminBase, clientInUrl }, { connectRunning }] =
    await Promise.all([
      import('./remote.ts'),
      import('../admin/caller.ts'),
      import('../tools/sweep/running-sandbox.ts'),
    ])
  const own = { ...input, flags: namesClient(input) ? flags : { ...flags, client: SWEEP_CLIENT } }
  const target = targetOf(own)
  const name = clientInUrl(target.base)!
  if (name === 'default')
    throw new BadOption(
      `--url resets its client for each run, and takes another one than default, such as ${target.base.origin}/@${SWEEP_CLIENT}`,
    )
  const address = {
    url: `${target.base.href}/v1`,
    adminUrl: adminBase(target),
    token: `sbx_${name}`,
    adminToken: target.token,
  }
  return connectRunning(connect(own), name, programEnvironment(env, address, true)).catch(
    (error) => {
      // 1 is for what the sweep finds.
      throw Object.assign(error, { exitCode: 2 })
    },
  )
}
