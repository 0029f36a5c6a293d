import t from 'tap'
import { serviceDocument } from '../../src/http/openapi-service.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { type StartOptions, start } from '../helper.ts'
import { noTools } from '../tools.ts'
import { HEY_API, OPENAPI_FETCH, type Use } from './client-programs.ts'
import { heyApi, openapiTypescript, programOf } from './generated.ts'

const STATUSES = Object.fromEntries(OPERATIONS.map(({ id, status }) => [id, status]))
const NEW_WORDS = { assume: { new_words: 'some' } }

const VALIDATING = heyApi('@hey-api/client-fetch', 'zod', {
  name: '@hey-api/sdk',
  validator: true,
})
const open = serviceDocument(OPERATIONS)
const strict = serviceDocument(OPERATIONS, { isStrict: true })

/** Runs a program with a sandbox of its own. */
async function runWith(t: Parameters<typeof start>[0], use: Use, options: StartOptions = {}) {
  const { app, close } = await start(t, options)
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    return await use(`${origin}/v1`)
  } finally {
    await close()
  }
}

for (const [name, generator, program] of [
  ['openapi-typescript and openapi-fetch', openapiTypescript, OPENAPI_FETCH],
  ['@hey-api/openapi-ts and zod', VALIDATING, HEY_API],
] as const)
  t.test(
    `${name}: a client of the document calls each endpoint, and accepts new fields and words`,
    { skip: noTools },
    async (t) => {
      const use = await programOf<Use>(t, { document: open, generator, use: program })
      const usual = await runWith(t, use)
      t.strictSame(usual.statuses, STATUSES)
      t.equal(usual.missing, 'not_found')
      t.notOk(usual.words.includes('queued'))
      const other = await runWith(t, use, NEW_WORDS)
      t.strictSame(other.statuses, STATUSES)
      t.ok(other.words.includes('queued'), 'it met a new word')
    },
  )

t.test(
  'a client of the strict document that validates accepts this sandbox, and rejects a new word',
  { skip: noTools },
  async (t) => {
    const use = await programOf<Use>(t, { document: strict, generator: VALIDATING, use: HEY_API })
    t.strictSame((await runWith(t, use)).statuses, STATUSES)
    await t.rejects(runWith(t, use, NEW_WORDS), { name: 'ZodError' })
  },
)
