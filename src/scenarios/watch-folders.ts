import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { scenarioTree } from './scenario-files.ts'

/** A watch that can be ended. */
export type Watch = { close(): void }

// Soon enough for a person who saves and tries, and next to no work, real ms.
const LOOK_MS = 200

/** The state of each entry of one folder. */
const entriesIn = (folder: string): string[] =>
  readdirSync(folder)
    .sort()
    .map((entry) => {
      const found = statSync(join(folder, entry), { bigint: true, throwIfNoEntry: false })
      return found ? `${entry} ${found.ino} ${found.size} ${found.mtimeNs}` : entry
    })

/** What a folder and those in it hold, as a text that differs when a file was written, replaced, made or taken away. */
function stateOf(folder: string): string {
  try {
    return scenarioTree(folder)
      .folders.flatMap((path) => [path, ...entriesIn(join(folder, path))])
      .join('\n')
  } catch {
    return 'gone'
  }
}

/**
 * Calls `changed` when the files of these folders have changed and then held still for one look. It looks by itself,
 * because the notices of the system differ between platforms and do not come through mounts of containers.
 */
export function watchFolders(
  folders: readonly string[],
  changed: () => Promise<void>,
  everyMs = LOOK_MS,
): Watch {
  const look = () => folders.map(stateOf).join('\n\n')
  let known = look()
  let last = known
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    const now = look()
    const isStill = now === last
    last = now
    // Half of a change is no change: an editor may write, then rename, and a branch is many files.
    if (!isStill || now === known) return
    known = now
    busy = true
    void changed().finally(() => {
      busy = false
    })
  }, everyMs)
  timer.unref()
  return { close: () => clearInterval(timer) }
}
