import { createConfig, lintFromString } from '@redocly/openapi-core'
import t from 'tap'
import { adminDocument } from '../../../src/http/openapi-routes.ts'
import { serviceDocument } from '../../../src/http/openapi-service.ts'
import { ADMIN_CALLS } from '../../../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../../../src/routes/v1/operations.ts'

const DOCUMENTS = {
  service: await serviceDocument(OPERATIONS),
  strict: await serviceDocument(OPERATIONS, 'strict'),
  admin: await adminDocument(ADMIN_CALLS),
}

t.test('a public linter finds nothing in the OpenAPI documents', async (t) => {
  const config = await createConfig({ extends: ['recommended'] })
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    const problems = await lintFromString({ source: JSON.stringify(document), config })
    t.same(
      problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
      [],
      name,
    )
  }
  const { info: _, ...broken } = DOCUMENTS.service as unknown as Record<string, unknown>
  const found = await lintFromString({ source: JSON.stringify(broken), config })
  t.ok(found.length > 0, 'and it finds what is missing')
})
