import t from 'tap'
import { adminDocument } from '../../src/http/openapi-admin.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/calls.ts'
import { ROHAN, start } from '../helper.ts'
import { noTools } from '../tools.ts'
import { heyApi, programOf } from './generated.ts'

// A user's program with the generated client; it is type-checked and then run.
const USE = `
import { createClient } from './generated/client'
import { advanceClock, getClock, listRules, pushRule, setScenario, simulateTransaction } from './generated/sdk.gen'
import type { Clock, Fired } from './generated/types.gen'

export async function use(baseUrl: string) {
  const client = createClient({ baseUrl, headers: { 'X-Admin-Token': 'secret' } })
  const clock: Clock | undefined = (await getClock({ client })).data
  const moved: Fired | undefined = (await advanceClock({ client, body: { by: '2d' } })).data
  const rule = await pushRule({ client, body: { name: 'one', when: { operation: 'listUsers' }, then: { respond: { status: 503 } } } })
  const rules = await listRules({ client })
  const scenario = await setScenario({ client, body: { name: 'slow' } })
  const refused = await simulateTransaction({ client, path: { id: '${ROHAN}' }, body: { status: 'SUCCESS' } })
  // @ts-expect-error an unknown status
  await simulateTransaction({ client, path: { id: '${ROHAN}' }, body: { status: 'LOST' } })
  return {
    mode: clock?.mode,
    now: moved?.now,
    rules: rules.data?.rules.map(({ rule_id }) => rule_id === rule.data?.rule_id),
    scenario: scenario.data?.name,
    refused: refused.error?.error,
  }
}
`

t.test(
  'a client made from the document by a public generator type-checks and works',
  { skip: noTools },
  async (t) => {
    const use = await programOf<(baseUrl: string) => Promise<object>>(t, {
      document: adminDocument(ADMIN_CALLS),
      generator: heyApi('@hey-api/client-fetch'),
      use: USE,
    })
    const { app } = await start(t, { app: { adminToken: 'secret' } })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    t.strictSame(await use(`${origin}/__admin`), {
      mode: 'frozen',
      now: '2026-01-03T00:00:00.000Z',
      rules: [true],
      scenario: 'slow',
      refused: 'not_found',
    })
  },
)
