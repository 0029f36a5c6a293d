// Reports a run of tap: each check that failed, with its place and what was expected; at the end what failed and how many passed.
import { Writable } from 'node:stream'
import { stringify } from 'yaml'

// A screen shows no more of a difference.
const MAX_LINES = 40
const shorten = (text) => text.split('\n').slice(0, MAX_LINES).join('\n')
const indent = (text) => text.trimEnd().replaceAll(/^/gm, '    ')

function showFailure({ fullname, diag }) {
  const { at, stack, source, diff, compare: _, tapCaught: __, ...more } = diag ?? {}
  const place = at && `${at.fileName}:${at.lineNumber}:${at.columnNumber}`
  // The files that share a process are of interest only if no place says which of them it is.
  const name = fullname.replace(place ? /^TAP > (?:[^>]+\.test\.ts > )?/ : /^TAP > /, '')
  console.log(`\n✖ ${name}${place ? `\n  ${place}` : ''}`)
  if (!place && source) console.log(indent(source))
  if (diff) console.log(indent(shorten(diff.replaceAll(/^@@.*\n/gm, ''))))
  if (Object.keys(more).length > 0) console.log(indent(stringify(more)))
  // The bundle's own place stands before that of the source.
  const frames = stack?.trim().replaceAll(/\(test\/\S*\.bundle\/\S+\) (?=\()/g, '') ?? ''
  if (frames.includes('\n') || !place) console.log(indent(frames))
  return `\n✖ ${name}`
}

/** Reports the tests of `t`, tap's object of this process. Sets the exit code. */
export function report(t) {
  const failed = []
  t.pipe(new Writable({ write: (_chunk, _encoding, done) => done() }))
  t.parser.on('result', (result) => {
    if (result.skip) console.log(`skipped: ${result.fullname}: ${result.skip}`)
    else if (!result.ok && !result.todo) failed.push(showFailure(result))
  })
  t.parser.on('complete', ({ ok }) => {
    const { pass, fail, skip } = t.counts
    if (!ok) process.exitCode = 1
    const seconds = (performance.now() / 1000).toFixed(1)
    const sums = `${pass} passed, ${fail} failed, ${skip} skipped`
    console.log(`${failed.join('')}\n${sums} in ${seconds} s`)
  })
}
