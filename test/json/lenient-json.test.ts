import t from 'tap'
import { readLenientJson } from '../../src/json/lenient-json.ts'

const rows = (table: string) =>
  [1, 2, 3].map((n) => `{"id":"${table}-${n}","note":"a \\"b\\"","n":${n}}`).join(',\n')
const TEXT = `{
"format":6,
"tables":{
"users":[
${rows('users')}
],
"webhook":[],
"timers":[
${rows('timers')}
]
}
}
`
const idsIn = (value: unknown) => [
  ...new Set(JSON.stringify(value ?? null).match(/(?:users|timers)-\d/g) ?? []),
]
const ALL = idsIn(JSON.parse(TEXT))

t.test('a text that is cut anywhere keeps the rows before the cut', async (t) => {
  for (let end = 0; end <= TEXT.length; end++) {
    const whole = TEXT.slice(0, end).split('\n').slice(0, -1).join('\n')
    const { value } = readLenientJson(TEXT.slice(0, end))
    const kept = idsIn(value)
    const wanted = ALL.filter((id) => whole.includes(id))
    if (!wanted.every((id) => kept.includes(id))) t.same(kept, wanted, `cut at ${end}`)
  }
  t.same(idsIn(readLenientJson(TEXT).value), ALL)
  t.equal(readLenientJson(TEXT).lost, 0)
})

t.test('a text without one of its characters keeps the rows of all other lines', async (t) => {
  for (let at = 0; at < TEXT.length; at++) {
    const damaged = TEXT.slice(0, at) + TEXT.slice(at + 1)
    const { value, lost } = readLenientJson(damaged)
    const line = TEXT.slice(0, at).split('\n').length - 1
    const isRow = TEXT.split('\n')[line]!.startsWith('{"id"')
    const kept = idsIn(value)
    if (isRow && kept.length < ALL.length - 1) t.same(kept, ALL, `without ${at}: ${lost} lost`)
  }
  const { value, lost } = readLenientJson(TEXT.replace('"webhook":', '"webhook:'))
  t.same(idsIn(value), ALL)
  t.equal(lost, 1)
})
