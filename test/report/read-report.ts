import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { elementsOf } from './tags.ts'

const attributesOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/\s([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )

/** The report in a folder: its suite and its tests, read as XML, and its summary. */
export function readReport(dir: string) {
  const elements = elementsOf(readFileSync(join(dir, 'junit.xml'), 'utf8')).map((one) => ({
    ...one,
    attributes: attributesOf(one.attributes),
  }))
  const named = (name: string) => elements.filter((one) => one.name === name)
  const { tests, failures, skipped, name } = named('testsuite')[0]!.attributes
  return {
    counts: [tests, failures, skipped].map(Number),
    suite: name,
    cases: named('testcase').map(({ attributes }) => attributes),
    failures: named('failure').map(({ attributes, texts }) => ({
      ...attributes,
      text: texts.join(''),
    })),
    summary: readFileSync(join(dir, 'summary.md'), 'utf8'),
  }
}
