// What a person wants of a test run: each file, what failed and why, what was skipped and why, and the counts.
import { Parser } from 'tap-parser'

const DETAILS = ['diff', 'found', 'wanted', 'error', 'stack', 'exitCode', 'signal']
const asText = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value))
const indented = (text) => text.trimEnd().replaceAll(/^/gm, '    ')

/** What is known of a failed test, one indented block for each detail. */
function detailsOf(diag) {
  return DETAILS.filter((key) => diag[key] !== undefined && diag[key] !== null)
    .map((key) => `    ${key}: ${asText(diag[key]).replaceAll('\n', '\n      ')}\n`)
    .join('')
}

const placeOf = ({ at }) =>
  at ? ` at ${at.fileName}:${at.lineNumber}:${at.columnNumber ?? 1}` : ''

/** Writes a report of the TAP of test files. `readPlaces` makes places in a bundle those of the sources. */
export function createReport(write, readPlaces = (text) => text) {
  const counts = { passed: 0, failed: 0, skipped: 0 }

  function skip(name, reason) {
    counts.skipped++
    const why = reason === true || !reason ? 'no reason given' : reason
    return `  skipped: ${name} (${why})\n`
  }
  function fail(name, details) {
    counts.failed++
    return readPlaces(`  not ok: ${name}${details}`)
  }

  /** Reads the TAP of one file: write it to `parser`, then tell how the file's process ended. */
  function file(name) {
    const parser = new Parser()
    let text = ''
    let extra = ''
    let results = 0
    let failed = 0

    function noteResult(result, names) {
      results++
      const title = [...names, result.name].filter(Boolean).join(' > ')
      if (result.skip) text += skip(title, result.skip)
      else if (result.todo)
        text += skip(title, `todo: ${result.todo === true ? 'no reason given' : result.todo}`)
      else if (result.ok) counts.passed++
      else {
        failed++
        const diag = result.diag ?? {}
        text += fail(title, `${placeOf(diag)}\n${detailsOf(diag)}`)
      }
    }
    function watch(level, names) {
      let failedParts = 0
      level.on('child', (child) => {
        watch(child, [...names, child.name])
        child.on('complete', ({ fail }) => {
          failedParts = fail
        })
      })
      level.on('assert', (result) => {
        // A test fails if a part of it fails, which is counted already.
        if (result.ok || failedParts === 0) noteResult(result, names)
        failedParts = 0
      })
    }
    watch(parser, [])
    parser.on('extra', (line) => {
      extra += line
    })

    /** `problem` says why the process itself failed. */
    function end({ ms, problem, stderr = '' }) {
      const { ok, plan, failures = [] } = parser.results ?? {}
      const why = plan?.skipReason?.replace(/^skip:?\s*/i, '')
      const isSkipped = results === 0 && Boolean(why) && why !== 'no tests found'
      const broken =
        problem ??
        (isSkipped
          ? undefined
          : results === 0
            ? 'It has no tests.'
            : ok
              ? undefined
              : `Its TAP is not whole: ${failures.map(({ tapError }) => tapError).join(', ')}.`)
      const said = readPlaces(`${stderr}${extra}`)
      if (broken !== undefined && failed === 0) text += fail(name, `\n    ${broken}\n`)
      else if (isSkipped) text += skip(name, why)
      const isBad = failed > 0 || broken !== undefined
      if (isBad && said) text += `    It printed:\n${indented(said)}\n`
      const outcome = isBad ? 'FAILED' : isSkipped ? 'skip  ' : 'ok    '
      write(`${outcome} ${name} (${Math.round(ms)} ms)\n${text}`)
    }
    return { parser, end }
  }

  return {
    counts,
    file,
    /** The last line. */
    end: () =>
      write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`),
  }
}
