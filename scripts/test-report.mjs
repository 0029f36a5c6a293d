// A short report of a test run: each file, failures and skipped tests with their reasons, and the counts.
import { Parser } from 'tap-parser'

const DETAILS = ['diff', 'found', 'wanted', 'error', 'stack', 'exitCode', 'signal']
const asText = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** The details of a failed test, one indented block each. */
function detailsOf(diag) {
  return DETAILS.filter((key) => diag[key] !== undefined && diag[key] !== null)
    .map((key) => `    ${key}: ${asText(diag[key]).replaceAll('\n', '\n      ')}\n`)
    .join('')
}

/**
 * Creates a stream that parses TAP and writes a report. Its last line is `N passed, N failed, N skipped`. Returns the
 * stream and the counts.
 */
export function createReport(write) {
  const parser = new Parser()
  const counts = { passed: 0, failed: 0, skipped: 0 }

  function addResult(result, names) {
    const name = [...names, result.name].filter(Boolean).join(' > ')
    if (result.skip) {
      counts.skipped++
      const why = result.skip === true ? 'no reason given' : result.skip
      write(`  skipped: ${name} (${why})\n`)
    } else if (result.ok) counts.passed++
    else {
      counts.failed++
      const diag = result.diag ?? {}
      const location = diag.at ? ` at ${diag.at.fileName}:${diag.at.lineNumber}` : ''
      write(`  not ok: ${name}${location}\n${detailsOf(diag)}`)
    }
  }

  function watch(level, names) {
    level.on('child', (child) => watch(child, [...names, child.name]))
    level.on('assert', (result) => {
      // The result of a whole file has a time.
      if (names.length === 0 && result.time !== undefined) {
        const outcome = result.skip ? 'skip  ' : result.ok ? 'ok    ' : 'FAILED'
        write(`${outcome} ${result.name} (${Math.round(result.time)} ms)\n`)
      }
      addResult(result, names)
    })
  }

  watch(parser, [])
  parser.on('complete', () => {
    const { passed, failed, skipped } = counts
    write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`)
  })
  return { parser, counts }
}
