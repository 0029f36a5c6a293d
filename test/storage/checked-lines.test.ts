import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { checkedLine, checkedLines, LineReader } from '../../src/storage/checked-lines.ts'

const linesOf = (words: readonly string[], before = 0) =>
  checkedLines(
    words.map((word) => JSON.stringify(word)),
    before,
  )

function read(content: Buffer) {
  const lines = new LineReader('x', content)
  const values: unknown[] = []
  for (let json = lines.nextEntry(); json !== undefined; json = lines.nextEntry())
    values.push(JSON.parse(json))
  return { values, end: lines.end, checksum: lines.checksum, torn: lines.tornBytes() }
}

t.test('what is written as lines is read back, whatever people write', (t) => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
      const { bytes, checksum } = linesOf(words)
      t.same(read(bytes), { values: words, end: bytes.length, checksum, torn: 0 })
    }),
    { numRuns: 200 },
  )
  t.end()
})

t.test('a line has the checksum of all entries until there after it', (t) => {
  const first = checkedLine('"a"', 0)
  t.equal(first.text, `"a",${crc32('"a"')},\n`)
  const second = checkedLine('"₹"', first.checksum)
  t.equal(second.text, `"₹",${crc32('"a""₹"')},\n`)
  const together = linesOf(['a', '₹'])
  t.equal(first.text + second.text, together.bytes.toString(), 'whatever is written together')
  t.equal(second.checksum, together.checksum)
  t.end()
})

t.test('a missing line is a damage, a line cut short is torn', (t) => {
  const bytes = Buffer.from(linesOf(['a', 'b', 'c']).bytes)
  const [first, second] = [
    bytes.indexOf('\n') + 1,
    bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1,
  ]
  const missing = Buffer.concat([bytes.subarray(0, first), bytes.subarray(second)])
  t.throws(() => read(missing), {
    message: `x: line 2, byte ${first}: the checksum does not match`,
  })
  for (let end = second; end < bytes.length; end++)
    t.match(read(bytes.subarray(0, end)), { values: ['a', 'b'], end: second, torn: end - second })
  const changed = Buffer.concat([bytes.subarray(0, -1), Buffer.from('x')])
  t.throws(() => read(changed), { message: /line 3, byte \d+: the line feed is missing/ })
  t.end()
})
