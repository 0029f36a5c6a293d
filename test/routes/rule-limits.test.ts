import t from 'tap'
import { type Answer, createLog, start } from '../helper.ts'

type Box = Awaited<ReturnType<typeof start>>

/** A rule that compares a header with a pattern. */
const pattern = (matches: string) => ({
  when: { operation: 'listUsers', headers: { 'x-a': { matches } } },
  then: { respond: { status: 503 } },
})
const plain = (i: number) => ({
  when: { operation: 'listUsers', headers: { 'x-a': `no ${i}` } },
  then: { respond: { status: 503 } },
})
const some = <T>(length: number, make: (i: number) => T) =>
  Array.from({ length }, (_, i) => make(i))
const patterns = (count: number) => some(count, (i) => pattern(`^a${i}$`))
const push = (box: Box, rule: object) => box.post('/__admin/rules', rule)
const isRefused = ({ status, body }: Answer) => [status, body.error]
const REFUSED = [422, 'too_many_rules']

/** Imports the present state with these pushed rules. */
async function importRules(box: Box, rules: readonly object[]): Promise<Answer> {
  const { body: state } = await box.get('/__admin/state')
  const rows = rules.map((definition, i) => ({ rule_id: `rul_${i + 1}`, seq: i + 1, definition }))
  return box.put('/__admin/state', { ...state, tables: { ...state.tables, rules: rows } })
}

t.test('a client has at most 1,000 pushed rules', async (t) => {
  const box = await start(t)
  t.equal((await importRules(box, some(999, plain))).status, 200)
  t.equal((await push(box, plain(999))).status, 200)
  const more = await push(box, plain(1_000))
  t.strictSame(isRefused(more), REFUSED)
  t.match(
    more.body.message,
    /^This client would have 1001 pushed rules, and the maximum is 1000\. /,
  )
  t.strictSame(isRefused(await importRules(box, some(1_001, plain))), REFUSED)
  const { rules } = (await box.get('/__admin/rules')).body
  t.equal(rules.length, 1_000)
  await box.call('DELETE', `/__admin/rules/${rules[0].rule_id}`)
  t.equal((await push(box, plain(1_000))).status, 200, 'a deleted one makes room')
  t.equal((await box.post('/@other/__admin/rules', plain(1))).status, 200, 'for each client')
})

t.test('the patterns of scenario and pushed rules are limited together', async (t) => {
  const box = await start(t)
  const use = (definition: object) => box.put('/__admin/scenario', { definition })
  t.equal((await use({ rules: patterns(18) })).status, 200)
  for (const rule of patterns(2)) t.equal((await push(box, rule)).status, 200)
  const more = await push(box, pattern('^b$'))
  t.strictSame(isRefused(more), REFUSED)
  t.match(more.body.message, /would have 21 patterns, and the maximum is 20\. Delete rules, or /)
  t.equal((await push(box, plain(1))).status, 200, 'a rule without a pattern')

  t.strictSame(isRefused(await use({ rules: patterns(19) })), REFUSED)
  const { body: active } = await box.get('/__admin/scenario')
  t.equal(active.rules.length, 18, 'the scenario before it stays active')
  t.strictSame(isRefused(await importRules(box, patterns(3))), REFUSED)
  t.equal((await box.get('/__admin/rules')).body.rules.length, 3, 'and so do the rules')

  t.equal((await use({ rules: patterns(1) })).status, 200)
  for (const rule of patterns(17)) t.equal((await push(box, rule)).status, 200)
  t.strictSame(isRefused(await push(box, pattern('^b$'))), REFUSED)
  await box.post('/__admin/reset')
  t.equal((await push(box, pattern('^b$'))).status, 200)
})

t.test('a timeline that pushes more is logged, and goes on', async (t) => {
  const log = createLog()
  const box = await start(t, { sandbox: { log } })
  const timeline = [
    { every: '1s', do: { rule: pattern('^c$') } },
    { after: '200s', do: { create_users: 1 } },
  ]
  await box.put('/__admin/scenario', { definition: { timeline } })
  const users = async () => (await box.get('/v1/users')).body.data.total_users
  const before = await users()
  await box.advance('200s')
  t.equal((await box.get('/__admin/rules')).body.rules.length, 20)
  t.equal(await users(), before + 1)
  const lines = log.lines.filter((line) => line.includes('would have 21 patterns'))
  t.equal(lines.length, 1, log.lines.join('\n'))
})
