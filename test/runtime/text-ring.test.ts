import fc from 'fast-check'
import t from 'tap'
import { type RingText, TextRing } from '../../src/runtime/text-ring.ts'

t.test('a ring returns every text that is kept, whatever their sizes', async (t) => {
  const texts = fc.array(
    fc.record({
      text: fc.oneof(
        fc.string({ maxLength: 40 }),
        fc.string({ unit: 'grapheme', maxLength: 4_000 }),
        fc.integer({ min: 1, max: 30_000 }).map((length) => 'x'.repeat(length)),
      ),
      kept: fc.integer({ min: 0, max: 20 }),
    }),
    { minLength: 1, maxLength: 60 },
  )
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(texts, (added) => {
        const ring = new TextRing()
        let kept: { text: string; stored: RingText }[] = []
        for (const { text, kept: most } of added) {
          kept = most === 0 ? [] : kept.slice(-most)
          kept.push({ text, stored: ring.add(text, kept[0]?.stored) })
          for (const one of kept) {
            if (String(one.stored) !== one.text.toWellFormed()) return false
            if (one.stored.size !== Buffer.byteLength(one.text)) return false
          }
        }
        return true
      }),
      { seed: 1, numRuns: 300 },
    ),
  )
})

t.test('a text that is no longer kept is empty, never part of another one', async (t) => {
  const ring = new TextRing()
  const first = ring.add('first', undefined)
  const second = ring.add('second', first)
  t.strictSame([String(first), String(second)], ['first', 'second'])
  const third = ring.add('x'.repeat(100_000), second)
  t.strictSame([String(first), String(second), String(third).length], ['', 'second', 100_000])
  ring.add('last', undefined)
  t.strictSame([String(second), String(third)], ['', ''])
})

t.test('a ring whose texts are dropped does not grow', async (t) => {
  const before = process.memoryUsage().arrayBuffers
  const ring = new TextRing()
  const text = 'x'.repeat(4_000)
  let kept: RingText[] = []
  for (let i = 0; i < 5_000; i++) kept = [...kept, ring.add(text, kept[0])].slice(-100)
  t.equal(String(kept[0]), text)
  const grown = process.memoryUsage().arrayBuffers - before
  t.ok(grown < 2_000_000, `${grown} bytes for 400 kB of texts, after 20 MB`)
})
