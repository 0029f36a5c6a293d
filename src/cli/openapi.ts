import { type Command, checkWords } from './command.ts'

export const openapi: Command = {
  name: 'openapi',
  summary: 'print the OpenAPI document of the service or of the admin API',
  usage: [
    ['openapi', 'the OpenAPI document of the service'],
    ['openapi --admin', 'the OpenAPI document of the admin API'],
  ],
  flags: { admin: ['', 'of the admin API'] },
  examples: ['openapi > openapi.json', 'openapi --admin > openapi-admin.json'],
  async run({ words, flags }) {
    checkWords('openapi', '', words)
    const [{ openApiDocument }, { adminDocument }, { ADMIN_CALLS, OPERATIONS }] = await Promise.all(
      [import('../http/openapi.ts'), import('../http/openapi-admin.ts'), import('../app.ts')],
    )
    const document = flags['admin']
      ? adminDocument(ADMIN_CALLS)
      : openApiDocument(OPERATIONS, '/v1')
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
    return 0
  },
}
