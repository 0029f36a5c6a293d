import t from 'tap'
import { realLater, unrefLater } from '../../src/runtime/real-time.ts'

t.test('a time that is longer than a timer of Node does not end at once', async (t) => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  process.on('warning', onWarning)
  for (const later of [realLater, unrefLater]) {
    const cancel = later(30 * 86_400_000, () => t.fail('it ran'))
    // Node warns in the next tick about a time that it replaces by a millisecond.
    await new Promise(setImmediate)
    cancel()
  }
  process.off('warning', onWarning)
  t.strictSame(warnings, [])
})
