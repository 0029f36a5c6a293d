import { type Command, checkWords } from './command.ts'

export const openapi: Command = {
  name: 'openapi',
  summary: 'print the OpenAPI document of the service',
  usage: [['openapi', 'the OpenAPI document of the service']],
  flags: {},
  examples: ['openapi > openapi.json'],
  async run({ words }) {
    checkWords('openapi', '', words)
    const [{ openApiDocument }, { OPERATIONS }] = await Promise.all([
      import('../http/openapi.ts'),
      import('../app.ts'),
    ])
    process.stdout.write(`${JSON.stringify(openApiDocument(OPERATIONS, '/v1'), null, 2)}\n`)
    return 0
  },
}
