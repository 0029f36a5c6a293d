// The baseline for webhook deliveries: node:http with keep-alive connections sends the same bytes and stores nothing.
import http from 'node:http'

const AT_ONCE = 64

function post(agent, { port, headers, body }) {
  return new Promise((resolve, reject) => {
    const options = { agent, host: '127.0.0.1', port, path: '/', method: 'POST', headers }
    http
      .request(options, (answer) => answer.resume().on('end', resolve))
      .on('error', reject)
      .end(body)
  })
}

process.on('message', async ({ count, ...message }) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const before = performance.now()
  let left = count
  const one = async () => {
    while (left-- > 0) await post(agent, message)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  const ms = performance.now() - before
  agent.destroy()
  process.send({ ms })
})
process.send('ready')
