import t from 'tap'
import type { AtomicChange } from '../../src/store/unit-of-work.ts'
import { UnitOfWork } from '../../src/store/unit-of-work.ts'

/** Changes of a list of words, whose lines go to a disk that can be full. */
function build() {
  const writes: (readonly AtomicChange[])[] = []
  const words: string[] = []
  const disk = { full: false }
  const unit = new UnitOfWork((changes) => {
    if (disk.full) throw new Error('full')
    writes.push(changes)
  })
  const random = {
    get counter() {
      return words.length
    },
  }
  const world = { name: 'w', random }
  const add = (word: string) =>
    unit.change(() => {
      words.push(word)
      unit.record(world, ['forget', word], () => void words.pop())
    })
  /** What is reported after everything until now is written: `written`, or the error. */
  const received = () =>
    new Promise<string>((resolve) =>
      unit.onDurable((error) => resolve(error ? (error as Error).message : 'written')),
    )
  const { change, batch, afterCommit } = unit
  return { unit, change, batch, afterCommit, add, received, writes, words, disk }
}

t.test('what is changed together is one write, at the end of the turn', async (t) => {
  const { batch, add, received, writes } = build()
  batch(() => add('a'))
  batch(() => add('b'))
  t.same(writes, [])
  t.equal(await received(), 'written')
  t.same(writes, [[[['w', 1, [['forget', 'a']]]], [['w', 2, [['forget', 'b']]]]]])
  t.equal(await received(), 'written', 'at once where nothing waits')
})

t.test('where the write fails, all that waited is undone, the newest first', async (t) => {
  const { batch, add, received, words, disk } = build()
  add('kept')
  disk.full = true
  batch(() => add('a'))
  const first = received()
  batch(() => add('b'))
  t.same([await first, await received()], ['full', 'written'])
  t.same(words, ['kept'])
})

t.test('a change inside a change is undone by itself where it fails', (t) => {
  const { unit, change, add, words, writes } = build()
  const random = { counter: 0 }
  change(() => {
    add('a')
    random.counter++
    try {
      change(() => {
        random.counter = 7
        add('b')
        unit.record({ name: 'other', random: { counter: 0 } }, ['forget', 'x'], () => {})
        throw new Error('no')
      }, random)
    } catch {
      add('c')
    }
  }, random)
  t.same([words, random.counter], [['a', 'c'], 1])
  t.same(writes, [
    [
      [
        [
          'w',
          2,
          [
            ['forget', 'a'],
            ['forget', 'c'],
          ],
        ],
      ],
    ],
  ])
  t.throws(() =>
    change(() => {
      random.counter = 9
      add('d')
      throw new Error('no')
    }, random),
  )
  t.same([words, random.counter, writes.length], [['a', 'c'], 1, 1])
  t.end()
})

t.test('a change that cannot be written is rolled back, with its random counter', (t) => {
  const { change, add, writes, words, disk } = build()
  const random = { counter: 0 }
  disk.full = true
  const addAndDraw = () => {
    random.counter++
    add('a')
  }
  t.throws(() => change(addAndDraw, random), { message: 'full' })
  t.same([words, random.counter, writes], [[], 0, []])
  disk.full = false
  add('b')
  t.same(writes, [[[['w', 1, [['forget', 'b']]]]]])
  t.end()
})
