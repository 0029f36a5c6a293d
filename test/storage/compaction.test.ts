import t from 'tap'
import { createCompaction } from '../../src/storage/compaction.ts'

// A 64th of the journal from which the document is rewritten.
const UNIT = 512 * 1024

/** A store of these bytes and rows, whose clock the test advances. */
function build(store: { journal: number; document?: number; rows?: number; entries?: number }) {
  const size = { document: 0, rows: 1, ...store }
  const waits: { ms: number; run: () => void }[] = []
  let made = 0
  const compaction = createCompaction({
    journalBytes: () => size.journal,
    documentBytes: () => size.document,
    countRows: () => size.rows,
    later: (ms, run) => {
      const wait = { ms, run }
      waits.push(wait)
      return () => void waits.splice(waits.indexOf(wait), 1)
    },
    compact: () => made++,
  })
  compaction.count(size.entries ?? 100)
  return {
    size,
    waits,
    made: () => made,
    compaction,
    /** A write after which the journal is so large; whether it is to be made anew when all is quiet. */
    writes(journal: number) {
      size.journal = journal
      compaction.written()
      return waits.length > 0
    },
    passes() {
      const { ms, run } = waits.pop()!
      t.equal(ms, 250)
      run()
    },
  }
}

t.test('it is time when the journal is large, and larger than the document', (t) => {
  const { writes, size } = build({ journal: 0 })
  t.notOk(writes(64 * UNIT))
  size.document = 80 * UNIT
  t.notOk(writes(64 * UNIT + 1))
  t.notOk(writes(80 * UNIT))
  t.ok(writes(80 * UNIT + 1))
  t.end()
})

t.test('it waits until nothing was written for a while', (t) => {
  const { writes, passes, made, waits } = build({ journal: 0 })
  writes(65 * UNIT)
  writes(66 * UNIT)
  t.equal(waits.length, 1, 'once')
  passes()
  t.equal(made(), 0, 'not where more was written')
  t.equal(waits.length, 1)
  passes()
  t.equal(made(), 1)
  t.equal(waits.length, 0)
  t.end()
})

t.test('it does not wait for ever', (t) => {
  const { writes, made, waits, size } = build({ journal: 0 })
  writes(65 * UNIT)
  writes(256 * UNIT)
  t.equal(made(), 0)
  size.document = 100 * UNIT
  writes(400 * UNIT)
  t.equal(made(), 0)
  writes(400 * UNIT + 1)
  t.equal(made(), 1)
  t.equal(waits.length, 0)
  t.end()
})

t.test('rows that are all still there are not written twice', (t) => {
  const { writes, made, compaction } = build({ journal: 0, rows: 50, entries: 100 })
  t.notOk(writes(65 * UNIT), 'half would be left out, and no more')
  compaction.count(10)
  t.notOk(writes(128 * UNIT), 'and it is looked again when as much has come')
  t.ok(writes(130 * UNIT))
  t.equal(made(), 0)
  t.end()
})

t.test('no journal gets too long to be read', (t) => {
  const { writes, made, waits } = build({ journal: 0, rows: 100, document: 900 * UNIT })
  for (let bytes = 60; bytes <= 1_024; bytes += 60) t.notOk(writes(bytes * UNIT))
  t.equal(made(), 0)
  writes(1_100 * UNIT)
  t.equal(made(), 1)
  t.equal(waits.length, 0)
  t.end()
})

t.test('what a document holds does not count for the next', (t) => {
  const { writes, compaction, waits, passes } = build({ journal: 0, rows: 10, entries: 100 })
  writes(65 * UNIT)
  passes()
  const { entries } = compaction
  compaction.count(5)
  compaction.compacted(10, entries)
  t.equal(compaction.entries, 15)
  t.notOk(writes(65 * UNIT))
  compaction.count(6)
  t.ok(writes(130 * UNIT))
  compaction.compacted(10, compaction.entries)
  t.equal(waits.length, 0, 'one that was asked for meanwhile will do')
  compaction.count(11)
  t.ok(writes(66 * UNIT))
  compaction.stop()
  t.equal(waits.length, 0)
  t.end()
})

t.test('one that failed is tried again when as much has come', (t) => {
  const { writes, compaction, passes } = build({ journal: 0 })
  writes(65 * UNIT)
  passes()
  compaction.failed()
  t.notOk(writes(129 * UNIT))
  t.ok(writes(129 * UNIT + 1))
  t.end()
})
