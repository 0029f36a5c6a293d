// The load: a process of its own that keeps connections to one port busy for a time and counts the answers.
// It speaks HTTP over plain sockets, as node:http's client costs more than the server it would measure.
import { connect } from 'node:net'

let sent = 0
const BODIES = {
  user: () => {
    const n = ++sent
    return { email: `bench.${n}@example.com`, mobile: `+9170${String(n).padStart(8, '0')}` }
  },
  payment: ({ from, to, bank }) => ({
    from_user_id: from,
    to_user_id: to,
    benif_bank_id: bank,
    amount: 1500.5,
    reference_id: `bench-${++sent}`,
  }),
}

function requestOf({ port, path, body, ids }) {
  const head = `${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`
  if (!body) return () => `GET ${head}\r\n`
  return () => {
    const text = JSON.stringify(BODIES[body](ids))
    return `POST ${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
  }
}

/** One connection: a request, its whole answer, the next request, until the time is over. */
function keepBusy(port, next, until, count) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(next()))
    socket.setNoDelay(true)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.latin1Slice()
      const end = text.indexOf('\r\n\r\n')
      if (end === -1) return
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
      if (text.length < end + 4 + length) return
      if (text[9] !== '2') return reject(new Error(`The server under load answered: ${text}`))
      count()
      text = ''
      if (performance.now() < until) socket.write(next())
      else socket.end()
    })
    socket.on('close', resolve)
    socket.on('error', reject)
  })
}

process.on('message', async (job) => {
  let requests = 0
  const next = requestOf(job)
  const start = performance.now()
  // A load that sleeps must be woken, at the cost of the server that is slower; so it never does.
  let busy = true
  const spin = () => busy && setImmediate(spin)
  spin()
  const connections = Array.from({ length: job.connections }, () =>
    keepBusy(job.port, next, start + job.ms, () => requests++),
  )
  await Promise.all(connections)
  busy = false
  process.send({ requests, ms: performance.now() - start })
})
