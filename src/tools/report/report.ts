import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { removeFile, replaceFile } from '../../config/files.ts'
import { BadOption } from '../../config/options.ts'
import { codeBlock, inline, markdownTable, markup } from './markup.ts'

export type TestCase = {
  name: string
  group: string
  ms: number
  /** What happened, and in which words to list it; absent for a test that passed. */
  outcome?: { kind: 'failure' | 'skipped'; type: string; message: string }
  details?: string
}

const seconds = (ms: number) => (ms / 1000).toFixed(3)

/** What a test contains: its failure with the details, or that it was skipped, and the details as output. */
function contentOf(outcome: TestCase['outcome'], details: string): string[] {
  if (outcome?.kind === 'failure')
    return [
      markup`    <failure type="${outcome.type}" message="${outcome.message}">${details || outcome.message}</failure>\n`,
    ]
  return [
    outcome ? markup`    <skipped message="${outcome.message}"/>\n` : '',
    details ? markup`    <system-out>${details}</system-out>\n` : '',
  ]
}

const caseOf = ({ name, group, ms, outcome, details = '' }: TestCase) =>
  markup`  <testcase classname="${group}" name="${name}" time="${seconds(ms)}">
${contentOf(outcome, details)}  </testcase>
`

export function junitXml(suite: string, tests: readonly TestCase[]): string {
  const count = (kind: 'failure' | 'skipped') =>
    tests.filter(({ outcome }) => outcome?.kind === kind).length
  const ms = tests.reduce((sum, one) => sum + one.ms, 0)
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
<testsuite name="${suite}" tests="${tests.length}" failures="${count('failure')}" errors="0" skipped="${count('skipped')}" time="${seconds(ms)}">
${tests.map(caseOf)}</testsuite>
</testsuites>
`
}

/** The result of a command, for a CI server and for its readers. */
export type Report = {
  /** The command, such as `payout-sandbox conform`. */
  title: string
  /** What it examined: a program, a file or an address. */
  subject: string
  result: string
  tests: readonly TestCase[]
  /** The Markdown below the result; without it, the tests that failed or were skipped. */
  body?: string
}

/** A report of one test, which passed or failed like this. */
export const reportOfOne = (
  head: Pick<Report, 'title' | 'subject' | 'result'>,
  test: Pick<TestCase, 'name' | 'group' | 'ms'>,
  failure: { type: string; message: string; details: string } | undefined,
): Report => {
  if (!failure) return { ...head, tests: [test] }
  const { details, ...outcome } = failure
  return { ...head, tests: [{ ...test, outcome: { kind: 'failure', ...outcome }, details }] }
}

const JUNIT = 'junit.xml'
const SUMMARY = 'summary.md'
export const REPORT_FILES: readonly string[] = [JUNIT, SUMMARY]

/** Makes a folder and those above it. Node's own way does not end in some folders of the system. */
function makeFolder(dir: string) {
  if (existsSync(dir)) return
  const above = dirname(dir)
  if (above !== dir) makeFolder(above)
  mkdirSync(dir)
}

/** Makes the folder of a report, and removes files of an earlier one. Throws `BadOption`, before anything else is done. */
export function prepareReport(
  dir: string,
  files: readonly string[] = REPORT_FILES,
  option = '--report',
) {
  try {
    makeFolder(resolve(dir))
    readdirSync(dir)
    accessSync(dir, constants.W_OK)
    for (const name of files) removeFile(join(dir, name))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new BadOption(`${option} ${dir} cannot be written (${code}); name a folder, or a new one`)
  }
}

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

function markdownOf({ title, subject, result, tests, ...rest }: Report): string {
  const { body = testsMarkdown(tests) } = rest
  const head = `# ${inline(title)}\n\n${inline(subject)}\n\n${inline(result)}\n`
  return body === '' ? head : `${head}\n${body}`
}

export function writeFiles(dir: string, files: Readonly<Record<string, string>>) {
  // The program that was run may have emptied the folder of its build.
  makeFolder(resolve(dir))
  for (const [name, text] of Object.entries(files)) replaceFile(join(dir, name), text)
}

export function writeReport(
  dir: string,
  report: Report,
  more: Readonly<Record<string, string>> = {},
) {
  const { title, subject, tests } = report
  writeFiles(dir, {
    [JUNIT]: junitXml(`${title}: ${subject}`, tests),
    [SUMMARY]: markdownOf(report),
    ...more,
  })
}
