import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type DocumentForm, serviceDocument } from '../../../src/http/openapi-service.ts'
import { OPERATIONS } from '../../../src/routes/v1/operations.ts'
import { MODULES, run, TSC, TSCONFIG } from './generate.ts'

const FORMS: readonly DocumentForm[] = ['default', 'strict', 'contract']

t.test('clients that orval makes with fetch and zod type-check', async (t) => {
  const root = t.testdir({ 'tsconfig.json': JSON.stringify(TSCONFIG) })
  const config: Record<string, object> = {}
  for (const form of FORMS) {
    const input = join(root, `${form}.json`)
    writeFileSync(input, JSON.stringify(await serviceDocument(OPERATIONS, form)))
    for (const client of ['fetch', 'zod'])
      config[`${form}-${client}`] = {
        input,
        output: { client, target: join(root, `src/${form}-${client}.ts`) },
      }
  }
  const file = join(root, 'orval.config.cjs')
  writeFileSync(file, `module.exports = ${JSON.stringify(config)}`)
  run([join(MODULES, 'orval/dist/bin/orval.js'), '--config', file])
  run([...TSC, '-p', root])
})
