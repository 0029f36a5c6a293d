import { get } from 'node:http'
import type { Options } from '../config/options.ts'
import { printableLine } from '../core/printable.ts'
import { askedHost } from './admin-api.ts'
import { type Command, checkWords } from './command.ts'
import { gatherSome, START_FLAGS } from './options.ts'

const DEADLINE_MS = 3_000

/** Asks the running server of these options how it is; 0 if it is healthy, else 1. */
function ask({ host, port }: Pick<Options, 'host' | 'port'>): Promise<number> {
  const hostname = askedHost(host)
  const told = (line: string, code: number) => {
    process.stdout.write(`${printableLine(line)}\n`)
    return code
  }
  return new Promise((resolve) => {
    const request = get(
      {
        hostname,
        port,
        path: '/__admin/health',
        timeout: DEADLINE_MS,
        headers: { host: '127.0.0.1' },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => {
          const healthy = response.statusCode === 200 && text.includes('"status":"healthy"')
          resolve(told(healthy ? 'healthy' : `not healthy: ${text.slice(0, 300)}`, healthy ? 0 : 1))
        })
      },
    )
    request.on('timeout', () =>
      request.destroy(new Error(`no answer within ${DEADLINE_MS / 1_000} s`)),
    )
    request.on('error', (error) => {
      resolve(told(`not healthy: ${hostname}:${port}: ${error.message}`, 1))
    })
  })
}

/** The image's HEALTHCHECK: the options of `start` find the port. */
export const health: Command = {
  name: 'health',
  summary: 'ask the server of these options how it is; exit 0 or 1',
  usage: [['health', 'whether the server of these options is healthy: exit 0 or 1']],
  flags: START_FLAGS,
  examples: ['health', 'health --port 8080'],
  async run({ words, flags, env }) {
    checkWords('health', '', words)
    return ask(gatherSome(['host', 'port'], flags, env))
  },
}
