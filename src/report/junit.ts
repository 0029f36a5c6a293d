import { type Markup, markup } from './markup.ts'

/** One test of a JUnit report. */
export type TestCase = {
  name: string
  /** The group of tests that it belongs to. */
  group: string
  ms: number
  /** What happened, and in which words to list it; absent for a test that passed. */
  outcome?: { kind: 'failure' | 'skipped'; type: string; message: string }
  /** More about it, of several lines. */
  details?: string
}

const seconds = (ms: number) => (ms / 1000).toFixed(3)

/** What a test contains: its failure with the details, or that it was skipped, and the details as output. */
function contentOf(outcome: TestCase['outcome'], details: string): Markup {
  if (outcome?.kind === 'failure')
    return markup`    <failure type="${outcome.type}" message="${outcome.message}">${details || outcome.message}</failure>\n`
  const skipped = outcome && markup`    <skipped message="${outcome.message}"/>\n`
  const output = details && markup`    <system-out>${details}</system-out>\n`
  return markup`${skipped}${output}`
}

function caseOf({ name, group, ms, outcome, details = '' }: TestCase): Markup {
  return markup`  <testcase classname="${group}" name="${name}" time="${seconds(ms)}">
${contentOf(outcome, details)}  </testcase>
`
}

/** A JUnit report of one suite, as CI servers read it. */
export function junitXml(suite: string, tests: readonly TestCase[]): string {
  const count = (kind: 'failure' | 'skipped') =>
    tests.filter(({ outcome }) => outcome?.kind === kind).length
  const ms = tests.reduce((sum, one) => sum + one.ms, 0)
  return `${markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
<testsuite name="${suite}" tests="${tests.length}" failures="${count('failure')}" errors="0" skipped="${count('skipped')}" time="${seconds(ms)}">
${tests.map(caseOf)}</testsuite>
</testsuites>
`}`
}
