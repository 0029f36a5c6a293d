import * as fc from 'fast-check'
import t from 'tap'
import { jsonPlaces } from '../../src/json/json-positions.ts'

t.test('each part of a text has its place; what is missing has its parent’s', async (t) => {
  const text = '{\n  "users": [\n    { "a\\u0062": 1 },\n    "x"\n  ],\r\n\t"n": null\n}\n'
  const { placeOf, fault } = jsonPlaces(text)
  t.equal(fault, undefined)
  const at = (...path: (string | number)[]) => {
    const { line, column } = placeOf(path)
    return `${line}:${column}`
  }
  t.strictSame(
    [at(), at('users'), at('users', 0), at('users', 0, 'ab'), at('users', 1), at('n')],
    ['1:1', '2:12', '3:5', '3:18', '4:5', '6:7'],
  )
  t.strictSame([at('users', 0, 'nope', 3), at('gone')], ['3:5', '1:1'])
})

t.test('the first syntax error is reported with its position', async (t) => {
  const table: [string, string][] = [
    ['', '1:1 the text ends too early here'],
    ['{"a": [1, 2', '1:12 the text ends too early here'],
    ['{\n  "a": "b', '2:10 the text ends too early here'],
    ['[1,\n 2,\n]', '2:3 a comma with no value after it; remove it'],
    ['[1 2]', '1:4 a comma or ] is missing before this'],
    ['{"a": 1 "b": 2}', '1:9 a comma or } is missing before this'],
    ['{a: 1}', '1:2 a key in double quotes is missing here'],
    ['{"a" 1}', '1:6 a colon is missing before this'],
    ['[01]', '1:3 a comma or ] is missing before this'],
    [
      '[undefined]',
      '1:2 a value is missing here: a string in double quotes, a number, true, false, null, { or [',
    ],
    ['// x\n{}', '1:1 JSON does not allow comments; remove it'],
    [
      '["a\nb"]',
      '1:4 a string must end with a double quote on the same line; write a line break as \\n',
    ],
    ['["C:\\data"]', '1:5 write a backslash as \\\\'],
    ['["\\u12x4"]', '1:5 \\u must be followed by four hexadecimal digits'],
    ['{} {}', '1:4 there is more text after the end of the value'],
    ['['.repeat(100_000), '1:102 more than 100 levels of objects and lists'],
  ]
  for (const [text, wanted] of table) {
    const { fault } = jsonPlaces(text)
    t.equal(
      fault && `${fault.line}:${fault.column} ${fault.message}`,
      wanted,
      JSON.stringify(text.slice(0, 40)),
    )
  }
})

t.test('what JSON.parse takes has no fault, and what it refuses has one', async (t) => {
  const takes = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '"', ',', '}', '\\', '0', '-'),
      (json, n, put) => {
        const at = n % (json.length + 1)
        for (const text of [json, json.slice(0, at), json.slice(0, at) + put + json.slice(at + 1)])
          if (takes(text) !== (jsonPlaces(text).fault === undefined)) throw new Error(text)
      },
    ),
    { seed: 1, numRuns: 2_000 },
  )
  t.pass()
})
