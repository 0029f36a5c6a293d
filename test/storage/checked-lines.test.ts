import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { checkedLine, checkedLines, LineReader } from '../../src/storage/checked-lines.ts'
import { nodeDisk } from '../../src/storage/disk.ts'

const linesOf = (words: readonly string[], before = 0) =>
  checkedLines(
    words.map((word) => JSON.stringify(word)),
    before,
  )

const file = join(t.testdir(), 'x')

function read(content: Buffer) {
  writeFileSync(file, content)
  const lines = new LineReader(nodeDisk, file)
  const values: unknown[] = []
  for (let more = lines.nextEntries(); more; more = lines.nextEntries()) values.push(...more)
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
    message: `${file}: line 2, byte ${first}: the checksum does not match`,
  })
  for (let end = second; end < bytes.length; end++)
    t.match(read(bytes.subarray(0, end)), { values: ['a', 'b'], end: second, torn: end - second })
  const changed = Buffer.concat([bytes.subarray(0, -1), Buffer.from('x')])
  t.throws(() => read(changed), { message: /line 3, byte \d+: the line feed is missing/ })
  t.end()
})

t.test('a line whose last comma is missing is read: its checksum proves its content', (t) => {
  const words = ['a', 'b', 'c', 'd']
  const text = linesOf(words).bytes.toString()
  for (let line = 0; line < words.length; line++) {
    const lines = text.split('\n')
    lines[line] = lines[line]!.slice(0, -1)
    t.same(read(Buffer.from(lines.join('\n'))).values, words)
  }
  t.end()
})

t.test('a checksum that is the same number in another form is a damage', (t) => {
  const { text, checksum } = checkedLine('"a"', 0)
  const written = (form: string) => Buffer.from(text.replace(String(checksum), form))
  t.same(read(written(String(checksum))).values, ['a'])
  for (const form of [`0${checksum}`, `${checksum}.0`, `+${checksum}`, ` ${checksum}`, ''])
    t.throws(() => read(written(form)), { message: /line 1, byte 0: the checksum/ }, form)
  t.end()
})

t.test(
  'entries are read whatever their sizes, larger ones than a file is read at once too',
  (t) => {
    const words = [1, 300_000, 2, 70_000, 70_000, 1_000_000, 3].flatMap((size) => [
      'a'.repeat(size),
      '₹'.repeat(size % 1_000),
    ])
    const { bytes, checksum } = linesOf([...words, ...words])
    t.same(read(bytes), { values: [...words, ...words], end: bytes.length, checksum, torn: 0 })
    const damaged = Buffer.from(bytes)
    const third = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1
    damaged[third + 200_000] = 98
    t.throws(() => read(damaged), { message: `${file}: line 3, byte ${third}: the checksum` })
    t.match(read(bytes.subarray(0, -2_000)), {
      torn: bytes.length - 2_000 - bytes.lastIndexOf('\n', -2_000) - 1,
    })
    t.end()
  },
)
