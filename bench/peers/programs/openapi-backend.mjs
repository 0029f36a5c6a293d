// openapi-backend as in its documentation: it mocks each operation with its example, behind Express.
import { readFileSync } from 'node:fs'
import express from 'express'
import { OpenAPIBackend } from 'openapi-backend'

const [port, file] = process.argv.slice(2)
const api = new OpenAPIBackend({
  definition: JSON.parse(readFileSync(file, 'utf8')),
  quick: true,
  validate: false,
  handlers: {
    notImplemented: (c, _request, response) => {
      const { status, mock } = c.api.mockResponseForOperation(c.operation.operationId)
      return response.status(status).json(mock)
    },
  },
})
await api.init()
const app = express()
app.use(express.json())
app.use((request, response) => api.handleRequest(request, request, response))
app.listen(Number(port), '127.0.0.1')
