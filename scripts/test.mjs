// What a person wants of a run: each file, what failed and why, and a closing line with the counts.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { Parser } from 'tap-parser'

// It slows every start of Node 20, and the tests start many.
delete process.env.NODE_EXTRA_CA_CERTS
const tap = createRequire(import.meta.url)
  .resolve('tap/package.json')
  .replace('package.json', 'dist/esm/run.mjs')

const parser = new Parser()
let passed = 0
let failed = 0

function watch(level, names) {
  level.on('child', (child) => watch(child, [...names, child.name]))
  level.on('assert', (result) => {
    // A subtest is counted by what is in it.
    if (names.length === 0 && result.time !== undefined) {
      process.stdout.write(
        `${result.ok ? 'ok    ' : 'FAILED'} ${result.name} (${Math.round(result.time)} ms)\n`,
      )
    }
    if (result.ok) passed++
    else {
      failed++
      const diag = result.diag ?? {}
      const place = diag.at ? ` at ${diag.at.fileName}:${diag.at.lineNumber}` : ''
      process.stdout.write(`  not ok: ${[...names, result.name].join(' > ')}${place}\n`)
      for (const key of ['diff', 'found', 'wanted', 'error', 'stack', 'exitCode', 'signal']) {
        if (diag[key] !== undefined && diag[key] !== null)
          process.stdout.write(
            `    ${key}: ${String(typeof diag[key] === 'object' ? JSON.stringify(diag[key]) : diag[key]).replaceAll('\n', '\n      ')}\n`,
          )
      }
    }
  })
}

watch(parser, [])
parser.on('complete', () => {
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
})

const run = spawn(process.execPath, [tap, '--reporter=tap', ...process.argv.slice(2)], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
run.stdout.pipe(parser)
run.on('close', (code) => {
  // Green only if tap says so and something was run.
  process.exitCode = code === 0 && (failed > 0 || passed === 0) ? 1 : (code ?? 1)
})
