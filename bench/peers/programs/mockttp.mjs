// Mockttp with three fixed rules and without its traffic recording.
import { readFileSync } from 'node:fs'
import { getLocal } from 'mockttp'

const [port, file] = process.argv.slice(2)
const rows = JSON.parse(readFileSync(file, 'utf8'))
const server = getLocal({ recordTraffic: false })
await server.start(Number(port))
await server.forGet(`/users/${rows[0].id}`).thenJson(200, rows[0])
await server.forGet('/users').thenJson(200, rows.slice(0, 10))
await server.forPost('/users').thenJson(201, rows[0])
