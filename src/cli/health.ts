import { printableLine } from '../core/printable.ts'
import type { AdminApi } from './admin-api.ts'
import { CommandFailed } from './command.ts'
import { remoteCommand } from './remote.ts'

type Health = { status: string; message?: string }

// The image's HEALTHCHECK gives up soon after.
const SILENT_MS = 3_000

/** How the sandbox says it is; one that does not answer is unreachable. */
async function ask(api: AdminApi): Promise<Health> {
  try {
    return await api('GET', '/health')
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    return { status: 'unreachable', message: error.message }
  }
}

/** The image's HEALTHCHECK: the options of `start` find the port. */
export const health = remoteCommand({
  name: 'health',
  summary: 'ask a running sandbox how it is; exit 0 or 1',
  verbs: {
    '': {
      takes: '',
      does: 'whether it is healthy: exit 0 or 1',
      async run(api) {
        const answer = await ask(api)
        const isHealthy = answer.status === 'healthy'
        const text = isHealthy
          ? 'healthy\n'
          : `not healthy: ${printableLine(answer.message ?? answer.status)}\n`
        return { answer, text, failed: !isHealthy }
      },
    },
  },
  examples: ['health', 'health --port 8080', 'health --url http://127.0.0.1:4310 --json'],
  silentMs: SILENT_MS,
})
