// What a person wants of a test run: each file, what failed and why, what was skipped and why, and the counts.
import { Parser } from 'tap-parser'

const DETAILS = ['diff', 'found', 'wanted', 'error', 'stack', 'exitCode', 'signal']
const asText = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** What is known of a failed test, one indented block for each detail. */
function detailsOf(diag) {
  return DETAILS.filter((key) => diag[key] !== undefined && diag[key] !== null)
    .map((key) => `    ${key}: ${asText(diag[key]).replaceAll('\n', '\n      ')}\n`)
    .join('')
}

/**
 * Reads TAP, and writes a report of it. Its last line is `N passed, N failed, N skipped`. Answers with a stream to write
 * the TAP to, and the counts.
 */
export function createReport(write) {
  const parser = new Parser()
  const counts = { passed: 0, failed: 0, skipped: 0 }

  function noteResult(result, names) {
    const name = [...names, result.name].filter(Boolean).join(' > ')
    if (result.skip) {
      counts.skipped++
      const why = result.skip === true ? 'no reason given' : result.skip
      write(`  skipped: ${name} (${why})\n`)
    } else if (result.ok) counts.passed++
    else {
      counts.failed++
      const diag = result.diag ?? {}
      const place = diag.at ? ` at ${diag.at.fileName}:${diag.at.lineNumber}` : ''
      write(`  not ok: ${name}${place}\n${detailsOf(diag)}`)
    }
  }

  function watch(level, names) {
    level.on('child', (child) => watch(child, [...names, child.name]))
    level.on('assert', (result) => {
      // A file or a subtest ends with a result of its own.
      if (names.length === 0 && result.time !== undefined) {
        const outcome = result.skip ? 'skip  ' : result.ok ? 'ok    ' : 'FAILED'
        write(`${outcome} ${result.name} (${Math.round(result.time)} ms)\n`)
      }
      noteResult(result, names)
    })
  }

  watch(parser, [])
  parser.on('complete', () => {
    const { passed, failed, skipped } = counts
    write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`)
  })
  return { parser, counts }
}
