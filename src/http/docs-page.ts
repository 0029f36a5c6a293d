import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { PACKAGE_ROOT } from '../config/package.ts'

const FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const

/** The folder into which the build copies Swagger UI's files; a source checkout reads them from the package. */
const FOLDERS = ['dist/swagger-ui', 'node_modules/@fastify/swagger-ui/static']

function readAsset(name: string): Buffer {
  const folder = FOLDERS.map((path) => join(PACKAGE_ROOT, path)).find((path) =>
    existsSync(join(path, name)),
  )
  return readFileSync(join(folder!, name))
}

// Relative to the page, so that a client's page shows the calls of that client.
const DOCUMENTS = {
  service: 'openapi.json',
  strict: 'openapi.json?strict',
  admin: '__admin/openapi.json',
}

// Font, width and controls as in Swagger UI.
const STYLE = `<style>
.api { max-width: 1460px; margin: 0 auto; padding: 20px 20px 0; box-sizing: border-box; color: #3b4151; font: 14px sans-serif; }
.api select { font: inherit; font-weight: 700; padding: 5px 10px; border: 2px solid #41444e; border-radius: 4px; background: #f7f7f7; }
</style>
`
const ADMIN = '<option value="admin">the admin API</option>\n'
const pageOf = (isAdmin: boolean) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>payout-sandbox: API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
${STYLE}</head>
<body>
<p class="api"><label>API: <select id="api">
<option value="service">the service</option>
<option value="strict">the service, exactly as this sandbox responds</option>
${isAdmin ? ADMIN : ''}</select></label></p>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>
`
const SCRIPT = `const documents = ${JSON.stringify(DOCUMENTS)}
const select = document.getElementById('api')
const show = (url) => SwaggerUIBundle({ dom_id: '#swagger-ui', url, validatorUrl: null })
const asked = new URLSearchParams(location.search).get('api')
if ([...select.options].some(({ value }) => value === asked)) select.value = asked
select.addEventListener('change', () => {
  history.replaceState(null, '', '?api=' + select.value)
  show(documents[select.value])
})
show(documents[select.value])
`

/** `/docs`: Swagger UI over the documents of the service and the admin API, from local files, read on first use. */
export function serveDocs(app: FastifyInstance, { admin }: { admin: boolean }) {
  const page = pageOf(admin)
  const kept = new Map<string, Buffer>()
  app.get('/docs', (_request, reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header(
        'content-security-policy',
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
      )
      .send(page),
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
