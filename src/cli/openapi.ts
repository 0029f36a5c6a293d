import { BadOption } from '../config/options.ts'
import { type Command, checkArguments } from './command.ts'

export const openapi: Command = {
  name: 'openapi',
  summary: 'print the OpenAPI document of the service or of the admin API',
  usage: [
    ['openapi', 'print the OpenAPI document of the service, with all responses of the contract'],
    ['openapi --strict', 'print the document with exactly the responses of this sandbox'],
    ['openapi --admin', 'print the OpenAPI document of the admin API'],
  ],
  flags: {
    strict: ['', 'describe exactly the responses of this sandbox'],
    admin: ['', 'print the document of the admin API'],
  },
  examples: ['openapi > openapi.json', 'openapi --admin > openapi-admin.json'],
  async run({ args, flags }) {
    checkArguments('openapi', '', args)
    const isStrict = flags['strict'] === true
    if (isStrict && flags['admin'])
      throw new BadOption('--strict is for the document of the service; leave out --admin')
    const [{ serviceDocument }, { adminDocument }, { OPERATIONS }, { ADMIN_CALLS }] =
      await Promise.all([
        import('../http/openapi-service.ts'),
        import('../http/openapi-admin.ts'),
        import('../routes/v1/operations.ts'),
        import('../routes/admin/admin-calls.ts'),
      ])
    const document = flags['admin']
      ? adminDocument(ADMIN_CALLS)
      : serviceDocument(OPERATIONS, { isStrict })
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
    return 0
  },
}
