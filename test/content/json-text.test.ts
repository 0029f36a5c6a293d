import * as fc from 'fast-check'
import t from 'tap'
import { parseJson, placesIn } from '../../src/content/json-text.ts'

t.test('each part of a text has its place; what is missing has its parent’s', async (t) => {
  const placeOf = placesIn(
    '{\n  "users": [\n    { "a\\u0062": 1 },\n    "x"\n  ],\r\n\t"n": null\n}\n',
  )
  const at = (...path: (string | number)[]) => {
    const { line, column } = placeOf(path)
    return `${line}:${column}`
  }
  t.strictSame(
    [at(), at('users'), at('users', 0), at('users', 0, 'ab'), at('users', 1), at('n')],
    ['1:1', '2:12', '3:5', '3:18', '4:5', '6:7'],
  )
  t.strictSame([at('users', 0, 'nope', 3), at('gone')], ['3:5', '1:1'])
  t.same(placesIn(`[${' '.repeat(9_000_000)}]`)([0]), { line: 0, column: 0 }, 'not in a large text')
})

t.test('the first fault of a text is reported with its place', async (t) => {
  const table: [string, string][] = [
    ['', '1:1 is not JSON: the text ends too early'],
    ['{"a": [1, 2', '1:12 is not JSON: the text ends too early'],
    ['{\n  "a": "b', '2:10 is not JSON: the text ends too early'],
    ['[1,\n 2,\n]', "3:1 is not JSON: Unexpected token ']'"],
    ['[1 2]', "1:4 is not JSON: Expected ',' or ']'"],
    ['{"a": 1 "b": 2}', "1:9 is not JSON: Expected ',' or '}'"],
    ['{a: 1}', '1:2 is not JSON: Expected property name'],
    ['{"a" 1}', "1:6 is not JSON: Expected ':'"],
    ['{"a": }', "1:7 is not JSON: Unexpected token '}'"],
    ['[01]', '1:3 is not JSON: Unexpected number'],
    ['// x\n{}', "1:1 is not JSON: Unexpected token '/'"],
    ['["a\nb"]', '1:4 is not JSON: Bad control character'],
    ['["C:\\data"]', '1:6 is not JSON: Bad escaped character'],
    ['{} {}', '1:4 is not JSON: Unexpected non-whitespace'],
    ['{"a": {\n "__proto__" : 1}}', '2:2 has the key __proto__; use another name'],
    ['{"\\u005f_proto_\\u005F":1}', '1:2 has the key __proto__; use another name'],
    ['{"a":1,"b":{"c":"\\"d\\":",\n"c":2}}', '2:1 has a key that is there twice'],
    [`${'['.repeat(200)}${']'.repeat(200)}`, '1:1 has more than 100 levels'],
  ]
  for (const [text, wanted] of table) {
    const read = parseJson(text)
    if ('value' in read) throw new Error(`${text} is taken`)
    const { line, column, message } = read.fault
    t.match(`${line}:${column} ${message}`, wanted, JSON.stringify(text.slice(0, 40)))
  }
  const secret = parseJson('{"access_token":"sbx_secret" }}')
  t.notMatch(JSON.stringify(secret), 'secret', 'a message quotes nothing of the text')
})

t.test('a text is cut before its first fault, wherever that is', async (t) => {
  const isTaken = (text: string) => 'value' in parseJson(text)
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom('\u0001', 'x', '}'),
      (json, n, bad) => {
        const at = n % (json.length + 1)
        const text = json.slice(0, at) + bad + json.slice(at)
        if (!isTaken(json)) return
        const read = parseJson(text)
        if ('value' in read || read.fault.message.includes('twice')) return
        const offset = text
          .split('\n')
          .slice(0, read.fault.line - 1)
          .join('\n').length
        // Nothing before the character that was put in is wrong.
        if (offset + read.fault.column - 1 < at) throw new Error(text)
      },
    ),
    { seed: 1, numRuns: 1_000 },
  )
  t.pass()
})
