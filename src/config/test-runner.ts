// node --test, vitest, jest and tap set these variables in each process that runs tests.
const SET_BY_RUNNERS = ['NODE_TEST_CONTEXT', 'VITEST', 'JEST_WORKER_ID', 'TAP'] as const

/** Whether a known test runner started this process. */
export const isUnderTestRunner = (env: NodeJS.ProcessEnv): boolean =>
  SET_BY_RUNNERS.some((name) => env[name])
