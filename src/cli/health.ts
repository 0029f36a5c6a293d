import { printableLine } from '../model/printable.ts'
import type { AdminApi } from './admin-api.ts'
import { CommandFailed } from './command.ts'
import { remoteCommand } from './remote.ts'

// Shorter than the timeout of the image's HEALTHCHECK.
const TIMEOUT_MS = 3_000

/** Reads the health of the sandbox; `unreachable` if it does not respond. */
async function readHealth(
  api: AdminApi,
): Promise<{ status: string; message?: string | undefined }> {
  try {
    return await api('getHealth')
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    return { status: 'unreachable', message: error.message }
  }
}

/** The image's HEALTHCHECK runs this command; it finds the port by the same options as `start`. */
export const health = remoteCommand({
  name: 'health',
  summary: 'check the health of a running sandbox; exit 0 if healthy, otherwise 1',
  subcommands: {
    '': {
      syntax: '',
      description: 'print healthy or the reason; exit 1 if not healthy',
      async run(api) {
        const response = await readHealth(api)
        const isHealthy = response.status === 'healthy'
        const text = isHealthy
          ? 'healthy\n'
          : `not healthy: ${printableLine(response.message ?? response.status)}\n`
        return { response, text, failed: !isHealthy }
      },
    },
  },
  examples: ['health', 'health --port 8080', 'health --url http://127.0.0.1:4310 --json'],
  timeout_ms: TIMEOUT_MS,
})
