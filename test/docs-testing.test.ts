import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'
import type { StreamKind } from '../src/model/feed-kinds.ts'
import { serve } from './cli/program.ts'
import { ASHA, ROHAN, ROHANS_ACCOUNT } from './helper.ts'

const GUIDE = readFileSync(join(PACKAGE_ROOT, 'docs/testing.md'), 'utf8')
const PAYMENT = {
  from_user_id: ASHA,
  to_user_id: ROHAN,
  benif_bank_id: ROHANS_ACCOUNT,
  amount: 250,
  reference_id: 'INV-7',
}

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

t.test('the code of the page on testing does what it says', async (t) => {
  const code =
    /<!-- test\/docs-testing\.test\.ts runs this block -->\n\n```js\n([\s\S]*?)\n```/.exec(
      GUIDE,
    )?.[1]
  if (!code) throw new Error('docs/testing.md has no code to run')
  const { payAndVerify } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  const { url, adminUrl } = await serve(t, ['--memory', '--clock', 'frozen'])
  const { request, transaction } = await payAndVerify(url, adminUrl, PAYMENT)
  t.match(request, { operation: 'createTransaction', body: PAYMENT })
  t.match(transaction, { transaction_status: 'success', amount: '250.00' })
  const worker = (address: string) => address.replace(/\/(v1|__admin)$/, '/@worker-3/$1')
  t.match(
    await payAndVerify(worker(url), worker(adminUrl), PAYMENT),
    { transaction: { transaction_status: 'success' } },
    'for a client of its own too',
  )
  await t.rejects(payAndVerify(url, adminUrl, { ...PAYMENT, amount: -1 }), {
    message: /^amount must be/,
  })
})
