import { spawnSync } from 'node:child_process'
import t from 'tap'
import { adminDocument } from '../../src/http/openapi-admin.ts'
import { serviceDocument } from '../../src/http/openapi-service.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { noTools, toolFile } from '../tools.ts'

t.test('a public linter finds nothing in the OpenAPI documents', { skip: noTools }, async (t) => {
  const dir = t.testdir({
    'openapi.json': JSON.stringify(serviceDocument(OPERATIONS)),
    'strict.json': JSON.stringify(serviceDocument(OPERATIONS, { isStrict: true })),
    'admin.json': JSON.stringify(adminDocument(ADMIN_CALLS)),
  })
  const redocly = toolFile('@redocly/cli', 'bin/cli.js')
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const names = ['openapi.json', 'strict.json', 'admin.json']
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [redocly, 'lint', '--format', 'json', ...names],
    {
      cwd: dir,
      encoding: 'utf8',
      env: { ...env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  )
  t.equal(status, 0, stderr)
  const totals = [...stdout.matchAll(/"totals": (\{[^}]*\})/g)].map(([, text]) => JSON.parse(text!))
  t.match(
    totals,
    names.map(() => ({ errors: 0, warnings: 0 })),
  )
  t.equal(totals.length, names.length)
})
