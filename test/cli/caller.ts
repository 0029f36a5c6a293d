import { type Agent, request } from 'node:http'

/** Calls of one server on kept connections, at a fraction of what `fetch` costs; rejects where a connection breaks. */
export const createCaller =
  (port: number, agent: Agent) =>
  (
    method: string,
    path: string,
    body?: object,
    more: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; text: string }> => {
    const text = body && JSON.stringify(body)
    const headers = {
      ...more,
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
    }
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method, agent, headers }, (answer) => {
        let got = ''
        answer.setEncoding('utf8').on('data', (chunk) => {
          got += chunk
        })
        answer.on('end', () => resolve({ status: answer.statusCode!, text: got }))
        answer.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(text)
    })
  }
