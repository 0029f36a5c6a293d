// What the sandbox's sending is held against: node:http with kept connections, the same bytes, nothing kept.
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
