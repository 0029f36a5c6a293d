// Scalar's mock server as in its documentation: the examples of an OpenAPI document, behind Hono.
import { readFileSync } from 'node:fs'
import { serve } from '@hono/node-server'
import { createMockServer } from '@scalar/mock-server'

const [port, file] = process.argv.slice(2)
const document = JSON.parse(readFileSync(file, 'utf8'))
const app = await createMockServer({
  document,
  specification: document,
  logger: false,
  validateRequest: false,
})
serve({ fetch: app.fetch, port: Number(port), hostname: '127.0.0.1' })
