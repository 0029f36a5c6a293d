import { readFileSync } from 'node:fs'

/** The maximum number of file descriptors for each use. The rest is for files: journal, document, log. */
export type DescriptorBudget = { connections: number; attempts: number }

const MAX_DESCRIPTORS: DescriptorBudget = { connections: 4_096, attempts: 256 }
const MAX_FILES = 64

/** The limit on open descriptors of this process; `undefined` if the system does not report it. */
function limitOfProcess(): number | undefined {
  try {
    const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found ? Number(found[1]) : undefined
  } catch {
    return undefined
  }
}

/** Divides a limit: a quarter for webhook attempts, a quarter for files, the rest for connections to the port. */
export function shareDescriptors(limit = limitOfProcess()): DescriptorBudget {
  if (limit === undefined) return MAX_DESCRIPTORS
  const quarter = Math.floor(limit / 4)
  const attempts = Math.min(MAX_DESCRIPTORS.attempts, quarter)
  return {
    attempts: Math.max(1, attempts),
    connections: Math.max(
      1,
      Math.min(MAX_DESCRIPTORS.connections, limit - attempts - Math.min(MAX_FILES, quarter)),
    ),
  }
}
