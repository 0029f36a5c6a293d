// Runs the tests with tap and prints a short report.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createReport } from './test-report.mjs'

// This variable slows down every start of Node 20, and the tests start many processes.
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
  // Passes only if tap passes and at least one test ran.
  const isBad = counts.failed > 0 || counts.passed === 0
  process.exitCode = code === 0 && isBad ? 1 : (code ?? 1)
})
