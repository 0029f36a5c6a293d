// Runs the tests with tap, and reports what a person wants to know.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createReport } from './test-report.mjs'

// It slows every start of Node 20, and the tests start many.
delete process.env.NODE_EXTRA_CA_CERTS
const tap = createRequire(import.meta.url)
  .resolve('tap/package.json')
  .replace('package.json', 'dist/esm/run.mjs')

const { parser, counts } = createReport((text) => process.stdout.write(text))
const run = spawn(process.execPath, [tap, '--reporter=tap', ...process.argv.slice(2)], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
run.stdout.pipe(parser)
run.on('close', (code) => {
  // Green only if tap says so and something was run.
  const isNothing = counts.failed > 0 || counts.passed === 0
  process.exitCode = code === 0 && isNothing ? 1 : (code ?? 1)
})
