import type { AdminApi } from '../admin/caller.ts'
import { printableLine } from '../model/words.ts'
import { type Command, CommandFailed } from './command.ts'
import { gatherOptions, START_FLAGS } from './options.ts'
import { remoteCommand, shown } from './remote.ts'

export const start: Command = {
  name: 'start',
  summary: 'start a sandbox; Ctrl-C stops it',
  usage: [['[start]', 'start a sandbox and serve until a signal stops it']],
  flags: {
    ...START_FLAGS,
    json: ['', 'when ready, print the addresses as one line of JSON'],
    'stop-with-stdin': [
      '',
      'also stop when standard input ends; so the sandbox ends with the program that started it, also if that is killed',
    ],
  },
  examples: [
    '--port 0 --memory --json --stop-with-stdin',
    '--clock 2026-01-01T00:00:00Z --random-seed 7',
    '--scenarios ./scenarios --scenario my-first --watch',
  ],
  async run({ flags: { json, 'stop-with-stdin': stopWithStdin, ...flags }, env }) {
    const options = gatherOptions(flags, env)
    const { serve } = await import('./serve.ts')
    return serve(options, { json: Boolean(json), stopWithStdin: Boolean(stopWithStdin) })
  },
}

// Shorter than the timeout of the image's HEALTHCHECK.
const TIMEOUT_MS = 3_000

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
  ofProcess: true,
  summary: 'check the health of a running sandbox; exit 0 if healthy, otherwise 1',
  description: 'print healthy or the reason; exit 1 if not healthy',
  run: (api) =>
    shown(
      readHealth(api),
      ({ status, message = status }) =>
        status === 'healthy' ? 'healthy\n' : `not healthy: ${printableLine(message)}\n`,
      ({ status }) => status !== 'healthy',
    ),
  examples: ['health', 'health --port 8080', 'health --url http://127.0.0.1:4310 --json'],
  timeoutMs: TIMEOUT_MS,
})
