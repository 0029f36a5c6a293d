import t from 'tap'
import { shareDescriptors } from '../../src/runtime/descriptor-budget.ts'

t.test('webhook attempts leave descriptors for the port and for files', async (t) => {
  t.same(shareDescriptors(256), { attempts: 64, connections: 128 })
  t.same(shareDescriptors(1_024), { attempts: 256, connections: 704 })
  t.same(shareDescriptors(1_048_576), { attempts: 256, connections: 4_096 })
  for (let limit = 64; limit < 6_000; limit += 7) {
    const { attempts, connections } = shareDescriptors(limit)
    const files = limit - attempts - connections
    if (attempts < 16 || connections < 32 || files < 16) t.fail(`${limit}: ${files} for files`)
  }
  t.ok(shareDescriptors(0).attempts > 0)
})
