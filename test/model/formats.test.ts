import t from 'tap'
import { isClockTime, text } from '../../src/model/formats.ts'

t.test('one-line texts hold no control character and no lone surrogate', async (t) => {
  const line = text(20)
  const controls = [
    ...Array.from({ length: 0x20 }, (_, code) => code),
    ...Array.from({ length: 0x21 }, (_, i) => 0x7f + i),
  ]
  for (const code of controls) {
    const result = line.safeParse(`a${String.fromCharCode(code)}b`)
    t.match(
      result.error?.issues,
      [{ message: 'must not contain control characters or lone surrogates' }],
      `U+${code.toString(16).padStart(4, '0')}`,
    )
  }
  t.notOk(line.safeParse('a\ud800').success)
  for (const fine of ['a b', '₹ नमस्ते', 'é\u00a0ü', '😀', "O'Brien-Smith"])
    t.ok(line.safeParse(fine).success, fine)
})

t.test('clocks stand from 1970 to 9999', async (t) => {
  for (const [instant, fits] of [
    ['1969-12-31T23:59:59.999Z', false],
    ['1970-01-01T00:00:00.000Z', true],
    ['9999-12-31T23:59:59.999Z', true],
    ['+010000-01-01T00:00:00.000Z', false],
  ] as const)
    t.equal(isClockTime(Date.parse(instant)), fits, instant)
  t.notOk(isClockTime(Number.NaN))
})
