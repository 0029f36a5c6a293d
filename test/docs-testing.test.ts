import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'
import type { StreamKind } from '../src/model/feed-kinds.ts'

const GUIDE = readFileSync(join(PACKAGE_ROOT, 'docs/testing.md'), 'utf8')

/** Every kind of an event; the compiler finds one that is missing. */
const KINDS: Record<StreamKind, true> = {
  request: true,
  waiting: true,
  change: true,
  timer: true,
  delivery: true,
  clock: true,
  scenario: true,
  assumptions: true,
  reset: true,
  restore: true,
  gap: true,
}

t.test('the page on testing lists each kind of event', async (t) => {
  const [, section = ''] = GUIDE.split('\n## Watch it live\n')
  const listed = [...section.matchAll(/^- `(\w+)`: /gm)].map(([, kind]) => kind)
  t.strictSame(listed, Object.keys(KINDS))
})
