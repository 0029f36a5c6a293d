import t from 'tap'
import { successText } from '../../src/model/envelope-text.ts'
import { type JsonText, json, listText, stringify, unescaped } from '../../src/model/json-text.ts'

const text: string = 'a "quote"'
const state = 'on' as 'on' | 'off'

t.test('a string that could be any does not compile without being escaped', async (t) => {
  const row: JsonText = json(`{"text":${stringify(text)},"state":"${state}","n":${text.length}}`)
  t.strictSame(JSON.parse(row), { text, state: 'on', n: 9 })
  // @ts-expect-error it may have a quote
  t.throws(() => JSON.parse(json(`{"text":"${text}"}`)))
  // @ts-expect-error JSON of unknown origin
  t.throws(() => JSON.parse(json(`{"rows":${text}}`)))
  // @ts-expect-error also behind other values
  t.throws(() => JSON.parse(json(`{"rows":${row},"n":${1 as number}${text}}`)))
  // @ts-expect-error a message with any text
  t.throws(() => JSON.parse(successText(200, `Not ${text}`, json('null'))))
  // @ts-expect-error no template at all
  t.equal(json(text), text)
})

t.test('parts are put together', async (t) => {
  t.strictSame(JSON.parse(json(`{"a":${stringify(text)},"id":"${unescaped('x')}"}`)), {
    a: text,
    id: 'x',
  })
  t.equal(listText([stringify(1), stringify(null)]), '[1,null]')
})
