import t from 'tap'
import { maxClientsOfHeap } from '../../src/runtime/heap-limits.ts'

t.test('a small heap holds fewer clients', async (t) => {
  for (const [mib, clients] of [
    [8, 8],
    [16, 8],
    [32, 84],
    [64, 308],
    [128, 756],
    [163, 1_001],
  ])
    t.equal(maxClientsOfHeap(mib), clients, `${mib} MiB`)
  t.ok(maxClientsOfHeap() > 1_000, 'the heap of this machine holds the default')
})

t.test('what a flag says counts, the last one of all', async (t) => {
  t.intercept(process, 'execArgv', { value: ['--max_old_space_size', '64'] })
  t.intercept(process, 'env', { value: { NODE_OPTIONS: '--max-old-space-size=32' } })
  t.equal(maxClientsOfHeap(), 308)
  t.intercept(process, 'execArgv', { value: [] })
  t.equal(maxClientsOfHeap(), 84)
})
