import t from 'tap'
import { markup } from '../../src/tools/report/markup.ts'
import { junitXml } from '../../src/tools/report/report.ts'
import { elementsOf } from './tags.ts'

t.test('markup escapes each value that is not markup', async (t) => {
  const inner = markup`<b>${'a & "b" <i>'}</b>`
  t.equal(
    markup`<p title="${`'"`}">${[inner, inner]}${3}</p>`,
    '<p title="&#39;&quot;"><b>a &amp; &quot;b&quot; &lt;i&gt;</b><b>a &amp; &quot;b&quot; &lt;i&gt;</b>3</p>',
  )
  t.equal(
    markup`${'\u0000\u001b[31mred\u001b[0m\u202e\ud800\uffff\n\tend'}`,
    ' red \ufffd\ufffd\n\tend',
    'without characters that XML excludes or a reader cannot see',
  )
})

t.test('a JUnit report counts its tests, and is well-formed with any text', async (t) => {
  const hostile = ']]><a b="c">&\u0000\u000b\u001b[2J\ufffe'
  const xml = junitXml(`suite ${hostile}`, [
    { name: hostile, group: hostile, ms: 1500 },
    { name: 'two', group: 'g', ms: 20, details: hostile },
    {
      name: 'three',
      group: 'g',
      ms: 0,
      outcome: { kind: 'failure', type: 'paid_twice', message: hostile },
      details: hostile,
    },
    {
      name: 'four',
      group: 'g',
      ms: 0,
      outcome: { kind: 'skipped', type: 'x', message: 'not met' },
    },
  ])
  const elements = elementsOf(xml)
  t.strictSame(
    elements.map(({ name }) => name),
    [
      ...['testsuites', 'testsuite', 'testcase', 'testcase', 'system-out'],
      ...['testcase', 'failure', 'testcase', 'skipped'],
    ],
  )
  t.match(elements[1]!.attributes, / tests="4" failures="1" errors="0" skipped="1" time="1.520"/)
  t.match(elements[6]!.attributes, / type="paid_twice" /)
  t.notMatch(xml, /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/)
})
