import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { checkedLines, readCheckedLines } from '../../src/storage/checked-lines.ts'

function read(content: Buffer) {
  const values: unknown[] = []
  const result = readCheckedLines('x', content, (value) => values.push(value))
  return { values, ...result }
}

t.test('what is written as lines is read back, whatever people write', (t) => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
      const bytes = checkedLines(words.map((word) => JSON.stringify(word)))
      const { values, goodBytes, lines, tornBytes } = read(bytes)
      t.same(values, words)
      t.same([goodBytes, lines, tornBytes], [bytes.length, words.length, 0])
    }),
    { numRuns: 200 },
  )
  t.end()
})

t.test('a line has its checksum before it, and may be long', (t) => {
  const short = checkedLines(['"a"']).toString()
  t.equal(short, `${crc32('"a"').toString(16).padStart(8, '0')} "a"\n`)
  // Longer than what is kept for the next, at one byte a character and at three.
  for (const words of [['x'.repeat(70_000)], ['₹'.repeat(400_000), 'y'.repeat(1_200_000)], ['z']])
    t.same(read(checkedLines(words.map((word) => JSON.stringify(word)))).values, words)
  t.end()
})
