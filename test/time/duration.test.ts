import t from 'tap'
import {
  formatDuration,
  MAX_MS,
  parseDelay,
  parseDuration,
  pointOf,
} from '../../src/model/duration.ts'

const READ: readonly (readonly [string, number | undefined])[] = [
  ['500ms', 500],
  ['5s', 5_000],
  ['1.5s', 1_500],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['2d', 172_800_000],
  ['0s', 0],
  ['PT5S', 5_000],
  ['PT0.25S', 250],
  ['PT1H30M', 5_400_000],
  ['P1DT2H', 93_600_000],
  ['P2W', 1_209_600_000],
  ['3650d', MAX_MS],
  ['3651d', undefined],
  ['5', undefined],
  ['5 s', undefined],
  ['5sec', undefined],
  ['-5s', undefined],
  ['1h30m', undefined],
  ['P', undefined],
  ['PT', undefined],
  ['P1M', undefined],
  ['P1Y', undefined],
  ['P1D2H', undefined],
  ['', undefined],
]

t.test('a duration is read in ms, or not at all', async (t) => {
  for (const [text, ms] of READ) t.equal(parseDuration(text), ms, text)
})

t.test('ms are formatted in the largest unit that divides them, and parsed back', async (t) => {
  const received: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [1, '1ms'],
    [1_500, '1500ms'],
    [90_000, '90s'],
    [7_200_000, '2h'],
    [86_400_000, '1d'],
  ]
  for (const [ms, text] of received) {
    t.equal(formatDuration(ms), text)
    t.equal(parseDuration(text), ms)
  }
})

t.test('a delay is a duration or a range of them', async (t) => {
  t.strictSame(parseDelay('2s'), { minMs: 2_000, maxMs: 2_000 })
  t.strictSame(parseDelay('200ms..2s'), { minMs: 200, maxMs: 2_000 })
  t.strictSame(parseDelay('200ms .. PT2S'), { minMs: 200, maxMs: 2_000 })
  for (const bad of ['2s..1s', '1s..', '..1s', '1s..2s..3s', '1..2', ''])
    t.equal(parseDelay(bad), undefined, bad)
})

t.test('a fraction picks a point of a delay, both ends included', async (t) => {
  const delay = { minMs: 10, maxMs: 12 }
  t.strictSame(
    [0, 0.34, 0.99].map((fraction) => pointOf(delay, fraction)),
    [10, 11, 12],
  )
})
