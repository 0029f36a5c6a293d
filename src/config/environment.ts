// config/: what a start can be told: the options and where they come from (command line, environment, file), and what the
// package knows about itself.

/** The address of a running sandbox. Without `adminToken` its admin API needs no token. */
export type Address = {
  url: string
  adminUrl: string
  token: string
  adminToken: string | undefined
}

export const NO_CALL =
  'the command made no call; let it use the address in the variable PAYOUT_SANDBOX_URL, as startSandbox of this version and the clients of other languages do'

/** The environment of a program that uses a sandbox: that of this process, with the address of the sandbox. */
export function programEnvironment(
  env: NodeJS.ProcessEnv,
  { url, adminUrl, token, adminToken }: Address,
  hasAdmin: boolean,
): NodeJS.ProcessEnv {
  const { PAYOUT_SANDBOX_ADMIN_TOKEN: _, PAYOUT_SANDBOX_ADMIN_URL: __, ...inherited } = env
  return {
    ...inherited,
    PAYOUT_SANDBOX_URL: url,
    ...(hasAdmin && { PAYOUT_SANDBOX_ADMIN_URL: adminUrl }),
    PAYOUT_SANDBOX_TOKEN: token,
    ...(adminToken !== undefined && { PAYOUT_SANDBOX_ADMIN_TOKEN: adminToken }),
  }
}

// node --test, vitest, jest and tap set these variables in each process that runs tests.
const SET_BY_RUNNERS = ['NODE_TEST_CONTEXT', 'VITEST', 'JEST_WORKER_ID', 'TAP'] as const

export const isUnderTestRunner = (env: NodeJS.ProcessEnv): boolean =>
  SET_BY_RUNNERS.some((name) => env[name])
