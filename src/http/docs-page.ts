import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { PACKAGE_ROOT } from '../config/package-root.ts'

const FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const

/** Where the build puts Swagger UI's files; in a source checkout they are taken from its package. */
const FOLDERS = ['dist/swagger-ui', 'node_modules/@fastify/swagger-ui/static']

function readAsset(name: string): Buffer {
  const folder = FOLDERS.map((path) => join(PACKAGE_ROOT, path)).find((path) =>
    existsSync(join(path, name)),
  )
  return readFileSync(join(folder!, name))
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>payout-sandbox: API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>
`
const SCRIPT = `SwaggerUIBundle({ dom_id: '#swagger-ui', url: '/openapi.json', validatorUrl: null })\n`

/** `/docs`: Swagger UI over `/openapi.json`, from files of our own, read when they are first asked for. */
export function serveDocs(app: FastifyInstance) {
  const kept = new Map<string, Buffer>()
  app.get('/docs', (_request, reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header(
        'content-security-policy',
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
      )
      .send(PAGE),
  )
  app.get('/docs/page.js', (_request, reply) =>
    reply.header('content-type', FILES['swagger-ui-bundle.js']).send(SCRIPT),
  )
  for (const [name, type] of Object.entries(FILES)) {
    app.get(`/docs/${name}`, (_request, reply) => {
      const content = kept.get(name) ?? readAsset(name)
      kept.set(name, content)
      return reply.header('content-type', type).send(content)
    })
  }
}
