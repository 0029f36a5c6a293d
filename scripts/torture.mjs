// npm run torture: the long form of test/cli/kill-webhooks.test.ts, at three rates of failure.
import { spawnSync } from 'node:child_process'

for (const failing of [0.05, 0.2, 0.5]) {
  console.log(`# a receiver that fails ${failing * 100} % of the time`)
  const { status } = spawnSync(
    process.execPath,
    ['--import=tsx', 'test/cli/kill-webhooks.test.ts'],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        TAP_TIMEOUT: '0',
        // Three events each: 10,002 in all.
        TORTURE_PAYMENTS: '3334',
        TORTURE_KILLS: '25',
        TORTURE_FAILING: String(failing),
      },
    },
  )
  if (status !== 0) process.exit(1)
}
