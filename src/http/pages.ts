import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { PACKAGE_ROOT } from '../config/package.ts'
import { basePathOf } from './clients.ts'
import { JSON_TYPE } from './errors.ts'

/** Serves a file that is read or made on first use. */
function serveFile(
  app: FastifyInstance,
  url: string,
  read: () => Buffer | string,
  headers: Readonly<Record<string, string>>,
) {
  let content: Buffer | string | undefined
  app.get(url, { prefixTrailingSlash: 'slash' }, (_request, reply) => {
    content ??= read()
    return reply.headers(headers).send(content)
  })
}

const DOCS_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
} as const

const ASSETS = join(PACKAGE_ROOT, 'dist/swagger-ui')
// Font and width as in Swagger UI.
const STYLE = `<style>
.api { display: flex; gap: 20px; align-items: center; max-width: 1460px; margin: 0 auto; padding: 20px 20px 0; box-sizing: border-box; font: 14px sans-serif; }
.api select { font: inherit; font-weight: 700; padding: 5px 10px; }
.dark-mode .api, .dark-mode .api a { color: #e8e8e3; }
</style>
`
const CONSOLE = '<a href="__admin/">Console</a>\n'
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
<p class="api">${isAdmin ? CONSOLE : ''}<label>API: <select id="api">
<option value="service">the service</option>
<option value="strict">the service, exactly as this sandbox responds</option>
${isAdmin ? ADMIN : ''}</select></label></p>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>
`
/** `/docs`: Swagger UI over the documents of the service and the admin API, from local files. */
export function serveDocs(app: FastifyInstance, { admin }: { admin: boolean }) {
  serveFile(app, '/docs', () => pageOf(admin), {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
  })
  for (const [name, type] of Object.entries(DOCS_FILES))
    serveFile(app, `/docs/${name}`, () => readFileSync(join(ASSETS, name)), {
      'content-type': type,
    })
}

/** The files of the console in `dist`, by the path that serves them. */
const CONSOLE_FILES = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/editor.js': ['editor.js', 'text/javascript; charset=utf-8'],
  '/app.css': ['app.css', 'text/css; charset=utf-8'],
  '/example.json': ['example.json', 'application/json; charset=utf-8'],
} as const

// The page loads only its own files and calls only this server; inline scripts and frames are forbidden.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
].join('; ')

/** Serves the console, a page that uses the admin API, at `GET /__admin/`. Its files need no token. */
export function serveConsole(admin: FastifyInstance) {
  for (const [url, [name, type]] of Object.entries(CONSOLE_FILES))
    serveFile(admin, url, () => readFileSync(join(PACKAGE_ROOT, 'dist/console', name)), {
      'content-type': type,
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
  // The page uses relative URLs, so its path must end with a slash.
  admin.get('/', { prefixTrailingSlash: 'no-slash' }, (_request, reply) =>
    reply.redirect('__admin/', 308),
  )
}

/** Leads a browser that opens the address of the sandbox to the console; a program learns the other addresses. */
export function serveRoot(app: FastifyInstance, { admin }: { admin: boolean }) {
  app.get('/', (request, reply) => {
    const base = basePathOf(request)
    if (admin && request.headers.accept?.includes('text/html'))
      return reply.redirect(`${base}/__admin/`, 302)
    const address = `${request.protocol}://${request.host}${base}`
    const addresses = {
      service: `${address}/v1`,
      docs: `${address}/docs`,
      ...(admin && { console: `${address}/__admin/` }),
      ready: `${address}/__admin/ready`,
    }
    return reply.header('content-type', JSON_TYPE).send(JSON.stringify(addresses))
  })
}
