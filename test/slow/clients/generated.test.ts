import t from 'tap'
import { adminDocument } from '../../../src/http/openapi-routes.ts'
import { serviceDocument } from '../../../src/http/openapi-service.ts'
import { ADMIN_CALLS } from '../../../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../../../src/routes/v1/operations.ts'
import { type StartOptions, start } from '../../helper.ts'
import { usesOf } from './generate.ts'
import { ADMIN, HEY_API, ON_PAGE, OPENAPI_FETCH, SERVED, type Use } from './programs.ts'

const STATUSES = Object.fromEntries(OPERATIONS.map(({ id, status }) => [id, status]))
const NEW_WORDS = { assume: { new_words: 'some' } }

const VALIDATING = ['@hey-api/client-fetch', 'zod', { name: '@hey-api/sdk', validator: true }]
const open = await serviceDocument(OPERATIONS)
const contract = await serviceDocument(OPERATIONS, 'contract')
const strict = await serviceDocument(OPERATIONS, 'strict')

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

t.test('clients that public generators make type-check and work', async (t) => {
  const served = await start(t)
  const address = await served.app.listen({ port: 0, host: '127.0.0.1' })
  const fromUrl = (await (await fetch(`${address}/@second/openapi.json`)).json()) as object
  const [fetching, validating, validatingStrictly, useAdmin, useServed, useOnPage] = await usesOf<
    [
      Use,
      Use,
      Use,
      (baseUrl: string) => Promise<object>,
      () => Promise<number | undefined>,
      (url: string) => Promise<string | undefined>,
    ]
  >(t, [
    { document: open, use: OPENAPI_FETCH },
    { document: open, plugins: VALIDATING, use: HEY_API },
    { document: strict, plugins: VALIDATING, use: HEY_API },
    { document: await adminDocument(ADMIN_CALLS), plugins: ['@hey-api/client-fetch'], use: ADMIN },
    { document: fromUrl, plugins: ['@hey-api/client-fetch'], use: SERVED },
    { document: contract, use: ON_PAGE },
  ])

  t.equal(
    await useServed(),
    4,
    'a client of the document of a URL calls that client of the sandbox',
  )
  t.equal(await useOnPage(`${address}/v1`), 'Sandbox Payments', 'the TypeScript of the docs')

  for (const [name, use] of [
    ['openapi-typescript and openapi-fetch', fetching],
    ['@hey-api/openapi-ts and zod', validating],
  ] as const)
    await t.test(
      `${name}: a client of the document calls each endpoint, and accepts new fields and words`,
      async (t) => {
        const usual = await runWith(t, use)
        t.strictSame(usual.statuses, STATUSES)
        t.equal(usual.missing, 'not_found')
        t.notOk(usual.words.includes('queued'))
        const other = await runWith(t, use, NEW_WORDS)
        t.strictSame(other.statuses, STATUSES)
        t.ok(other.words.includes('queued'), 'it met a new word')
      },
    )

  await t.test(
    'a client of the strict document that validates accepts this sandbox, and rejects a new word',
    async (t) => {
      t.strictSame((await runWith(t, validatingStrictly)).statuses, STATUSES)
      await t.rejects(runWith(t, validatingStrictly, NEW_WORDS), { name: 'ZodError' })
    },
  )

  await t.test('a client of the document of the admin API', async (t) => {
    const { app } = await start(t, { app: { adminToken: 'secret' } })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    t.strictSame(await useAdmin(`${origin}/__admin`), {
      mode: 'frozen',
      now: '2026-01-03T00:00:00.000Z',
      rules: [true],
      scenario: 'slow',
      refused: 'not_found',
    })
  })
})
