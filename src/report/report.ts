import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { BadOption } from '../config/options.ts'
import { junitXml, type TestCase } from './junit.ts'
import { codeBlock, inline, markdownTable } from './markdown.ts'
import { removeFile, replaceFile } from './output-file.ts'

/** The result of a command, for a CI server and for its readers. */
export type Report = {
  /** The command, such as `payout-sandbox replay`. */
  title: string
  /** What it examined: a program, a file or an address. */
  subject: string
  /** The result in one line. */
  result: string
  tests: readonly TestCase[]
  /** The Markdown below the result; without it, the tests that failed or were skipped. */
  body?: string
}

const JUNIT = 'junit.xml'
const SUMMARY = 'summary.md'

/** Makes a folder and those above it. Node's own way does not end in some folders of the system. */
function makeFolder(dir: string) {
  if (existsSync(dir)) return
  const above = dirname(dir)
  if (above !== dir) makeFolder(above)
  mkdirSync(dir)
}

/**
 * Makes the folder of a report, and removes these files of an earlier report, which would be mistaken for this one. Throws
 * `BadOption` if nothing can be written there, before anything else is done.
 */
export function prepareReport(dir: string, files: readonly string[] = [JUNIT, SUMMARY]) {
  try {
    makeFolder(resolve(dir))
    readdirSync(dir)
    accessSync(dir, constants.W_OK)
    for (const name of files) removeFile(join(dir, name))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new BadOption(`--report ${dir} cannot be written (${code}); name a folder, or a new one`)
  }
}

/** Markdown about the tests that failed or were skipped. */
export function testsMarkdown(tests: readonly TestCase[]): string {
  const shown = tests.filter(({ outcome }) => outcome !== undefined)
  if (shown.length === 0) return ''
  const rows = shown.map(({ name, outcome }) => [
    name,
    outcome!.kind === 'failure' ? 'failed' : 'skipped',
    outcome!.message,
  ])
  const details = shown.flatMap(({ name, details }) =>
    details === undefined ? [] : [`\n${inline(name)}:\n\n${codeBlock(details, 'text')}`],
  )
  return `${markdownTable(['test', 'result', 'what happened'], rows)}${details.join('')}`
}

function markdownOf({
  title,
  subject,
  result,
  tests,
  body = testsMarkdown(tests),
}: Report): string {
  const head = `# ${inline(title)}\n\n${inline(subject)}\n\n${inline(result)}\n`
  return body === '' ? head : `${head}\n${body}`
}

/** Writes `junit.xml` and `summary.md` into a folder that was prepared. */
export function writeReport(dir: string, report: Report) {
  const { title, subject, tests } = report
  // The program that was run may have emptied the folder of its build.
  makeFolder(resolve(dir))
  replaceFile(join(dir, JUNIT), junitXml(`${title}: ${subject}`, tests))
  replaceFile(join(dir, SUMMARY), markdownOf(report))
}
