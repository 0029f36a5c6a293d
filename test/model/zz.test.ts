import t from 'tap'
t.strictSame(Array.from({length: 100}, (_, i) => i), Array.from({length: 100}, (_, i) => i * 2))
