import type { FastifyInstance } from 'fastify'
import type { AdminCall } from '../../http/admin.ts'

const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** `GET /__admin/`: what the admin API can do, for a person who opens it in a browser. */
export function serveIndexPage(admin: FastifyInstance, calls: readonly AdminCall[]) {
  const rows = calls
    .map(
      ({ method, url, summary }) =>
        `<tr><td>${method}</td><td><code>/__admin${url}</code></td><td>${escaped(summary)}</td></tr>`,
    )
    .join('\n')
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>payout-sandbox</title></head>
<body>
<h1>payout-sandbox</h1>
<p><a href="/docs">The service’s API</a>. The calls of the admin API, <a href="/docs?api=admin">to try out</a>:</p>
<table>
${rows}
</table>
</body>
</html>
`
  admin.get('/', { prefixTrailingSlash: 'slash' }, (_request, reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
      .send(page),
  )
}
