import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { createCaller } from './caller.ts'

/** Why processes can't be put into namespaces here; `false` where they can. */
export const NO_NAMESPACES =
  spawnSync('unshare', ['--pid', '--fork', '--mount-proc', '--uts', 'true']).status === 0
    ? false
    : 'unshare needs Linux and root'

/** Where a process runs: as we do, in a pid namespace of its own, under another host name, or both. */
export type Place = 'beside' | 'own pids' | 'own host' | 'container'

/** How to start a program in a place. */
export function placed(place: Place, program: readonly string[], host: string): string[] {
  const named = ['sh', '-c', 'hostname "$0"; exec "$@"', host, ...program]
  const pids = ['--pid', '--fork', '--mount-proc']
  if (place === 'beside') return [...program]
  if (place === 'own pids') return ['unshare', ...pids, ...program]
  if (place === 'container') return ['unshare', '--uts', ...pids, ...named]
  return ['unshare', '--uts', ...named]
}

/** The process that runs a program, where `unshare --fork` stands before it. */
function innermost(pid: number): number {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    return child ? innermost(Number(child)) : pid
  } catch {
    return pid
  }
}

export type OwnerProcess = Awaited<ReturnType<typeof startOwner>>

/** Starts the program of `owner-server.ts`; without a `port` it ended, with `code`. */
export async function startOwner(server: string, file: string, place: Place, host: string) {
  const [command, ...args] = placed(place, [process.execPath, server, file], host)
  const { NODE_OPTIONS: _, NODE_EXTRA_CA_CERTS: __, ...env } = process.env
  const child = spawn(command!, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed += text
  })
  const port = await Promise.race([
    once(child.stdout, 'data').then(([text]) => Number(text)),
    ended.then(() => undefined),
  ])
  const agent = new Agent({ keepAlive: true })
  const pid = innermost(child.pid!)
  return {
    port,
    code: child.exitCode ?? child.signalCode,
    place,
    printed: () => printed,
    call: createCaller(port ?? 0, agent),
    signal: (name: NodeJS.Signals) => void process.kill(pid, name),
    /** Ends it; answers with how it ended. */
    async end(name: 'SIGKILL' | 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) process.kill(pid, name)
      await ended
      agent.destroy()
      return child.exitCode ?? child.signalCode
    },
  }
}
