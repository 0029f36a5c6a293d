import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { problemText } from '../../src/model/errors.ts'
import { failureOf } from '../../src/model/payment.ts'
import { readLibrary } from '../../src/scenarios/read-library.ts'

const folder = `${join(PACKAGE_ROOT, 'scenarios')}/`
const textOf = (file: string) => readFileSync(`${folder}${file}`, 'utf8')
const result = readLibrary([folder])
if (!result.ok) throw new Error(result.problems.map(problemText).join('\n'))
const { library, warnings } = result

t.test('no shipped scenario has a warning', async (t) => {
  t.strictSame(warnings.map(problemText), [])
})

t.test('each file points editors to its schema, has a title, and is listed', async (t) => {
  const readme = textOf('README.md')
  for (const file of readdirSync(folder).filter((one) => one.endsWith('.yaml'))) {
    const name = file.replace('.yaml', '')
    t.equal(
      textOf(file).split('\n')[0],
      '# yaml-language-server: $schema=./scenario.schema.json',
      file,
    )
    t.ok(textOf(file).split('\n')[1]?.startsWith('# '), `${file} says what it is for`)
    t.ok(
      readme.includes(`\n- [${name}](${file}): ${library.get(name)!.definition.title}\n`),
      `README.md has ${name}`,
    )
  }
})

t.test('a reason of one’s own is a sentence of the gateway, whatever the word', async (t) => {
  for (const reason of ['moon_phase', 'constructor'])
    t.strictSame(failureOf(reason), {
      reason,
      description: `The payment failed: ${reason.replace('_', ' ')}.`,
      source: 'gateway',
    })
})

t.test('the schema explains the words whose meaning is easy to miss', async (t) => {
  const schema = textOf('scenario.schema.json')
  for (const text of [
    'magic values are off.',
    'Sends this event only after the named event of the same resource, which normally comes later.',
    'What the rule does after the last outcome: last = repeat it (default)',
    'A missing field never matches.',
  ])
    t.ok(schema.includes(text), text)
})
