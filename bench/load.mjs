// The load generator: a process that keeps connections to one port busy for a time and counts the responses.
// It uses HTTP over plain sockets, because the client of node:http costs more than the measured server.
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

// The time that a server may take for its last responses, ms.
const GRACE_MS = 30_000

/** Whether a text is a complete response, by its length or its last chunk. */
function isWhole(text) {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /content-length: (\d+)/i.exec(text)?.[1]
  if (length !== undefined) return text.length >= end + 4 + Number(length)
  return text.endsWith('\r\n0\r\n\r\n')
}

/**
 * One connection: sends a request, waits for its complete response, and sends the next one, until there are no more or a
 * response takes too long. With `reconnect`, a closed connection is opened again and its request repeated: a Node server
 * whose responses take seconds treats a connection with a request as idle.
 */
function keepBusy({ port, ms, reconnect }, next, count) {
  return new Promise((resolve, reject) => {
    let socket
    let request
    let over = false
    const end = () => {
      over = true
      socket.destroy()
    }
    const tooLate = setTimeout(end, ms + GRACE_MS)
    const finish = (error) => {
      clearTimeout(tooLate)
      if (error) reject(error)
      else resolve()
    }
    const go = () => {
      request = next()
      if (request === undefined) end()
      else socket.write(request)
    }
    const open = () => {
      let text = ''
      let kept = false
      let lost = new Error('The server under load closed the connection')
      socket = connect(port, '127.0.0.1', () => (request ? socket.write(request) : go()))
      socket.setNoDelay(true)
      socket.on('data', (chunk) => {
        text += chunk.latin1Slice()
        if (!isWhole(text)) return
        if (text[9] !== '2') return finish(new Error(`The server under load responded: ${text}`))
        count()
        text = ''
        kept = true
        go()
      })
      socket.on('error', (error) => {
        lost = error
      })
      socket.on('close', () => {
        if (over) finish()
        else if (reconnect && kept && text === '') open()
        else finish(lost)
      })
    }
    open()
  })
}

process.on('message', async (job) => {
  let given = 0
  let answered = 0
  const make = requestOf(job)
  const start = performance.now()
  const next = () => {
    if (performance.now() > start + job.ms || given === job.most) return undefined
    given++
    return make()
  }
  // The process never sleeps: waking it up would cost the slower server more.
  let busy = true
  const spin = () => busy && setImmediate(spin)
  spin()
  const connections = Array.from({ length: job.connections }, () =>
    keepBusy(job, next, () => answered++),
  )
  try {
    await Promise.all(connections)
  } catch ({ message }) {
    // The caller reports the error with its context; the other connections end with this process.
    process.send({ failure: message }, () => process.exit(1))
    return
  }
  busy = false
  process.send({ requests: answered, ms: performance.now() - start })
})
