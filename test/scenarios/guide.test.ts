import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { readScenario } from '../../src/scenarios/read.ts'
import { type Answer, KABIR, ROHAN, type StartOptions, start } from '../helper.ts'

type Box = Awaited<ReturnType<typeof start>>

const guide = readFileSync(join(PACKAGE_ROOT, 'docs/scenarios.md'), 'utf8')
const snippets = [...guide.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)

/** The snippet of the guide with these words in it, as a definition. */
function definitionOf(words: string) {
  const found = snippets.filter((text) => text.includes(words))
  if (found.length !== 1) throw new Error(`${found.length} snippets say ${words}`)
  const read = readScenario(found[0]!, { name: 'guide', file: 'guide' })
  if (!read.ok) throw new Error(read.problems[0]!.message)
  return read.scenario.definition
}

async function play(t: Test, words: string, options: StartOptions = {}) {
  const box = await start(t, options)
  const { status } = await box.put('/__admin/scenario', { definition: definitionOf(words) })
  t.equal(status, 200)
  return box
}

const idOf = ({ body }: Answer): string => body.data[0].transaction_id
const statusOf = (box: Box, id: string) => box.sandbox.default.payouts.payments.get(id).row.status

t.test('a large payment hangs for 25 minutes and fails, a small one succeeds', async (t) => {
  const box = await play(t, 'Large payments are slow')
  const [large, small] = [
    idOf(await box.pay({ amount: 10_000 })),
    idOf(await box.pay({ amount: 9_999 })),
  ]
  const seen = () => [statusOf(box, large), statusOf(box, small)]
  t.strictSame(seen(), ['PENDING', 'PENDING'])
  await box.advance('3s')
  t.strictSame(seen(), ['PENDING', 'SUCCESS'])
  await box.advance('2s')
  t.equal(statusOf(box, large), 'PROCESSING')
  await box.advance('30m')
  t.equal(statusOf(box, large), 'FAILED')
  t.equal(
    box.sandbox.default.payouts.payments.get(large).row.failure?.reason,
    'beneficiary_bank_offline',
  )
})

t.test('the first PAN check of each user fails, the second succeeds', async (t) => {
  const box = await play(t, 'Everybody must try twice')
  const check = async (user_id: string, document_type: 'tid' | 'pid' = 'tid') => {
    const item = {
      document_type,
      document_name: document_type === 'tid' ? 'pan' : 'aadhar',
      document_number: document_type === 'tid' ? 'XXXPX1234A' : '999912341234',
      dateOfBirth: '01-02-1990',
      Nationality: 'IN',
      nameOnCard: 'A B',
    }
    const { body } = await box.post('/v1/kyc', { user_id, kyc: [item] })
    return [body.data[0].data.kyc_status, body.data[0].message]
  }
  t.equal((await check(KABIR, 'pid'))[0], 'pending', 'another document is as ever')
  t.strictSame(await check(KABIR), ['failed', 'PAN not found'])
  t.strictSame(await check(ROHAN), ['failed', 'PAN not found'])
  t.equal((await check(KABIR))[0], 'success')
  t.equal((await check(ROHAN))[0], 'success')
})
