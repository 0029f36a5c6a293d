import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { scenarioTree, statOf } from './scenario-files.ts'

/** A running watch; `close` ends it. */
export type Watch = { close(): void }

// Real ms. Short enough for a person who saves a file and tries it, and cheap.
const POLL_MS = 200

/** Returns a text for each entry of one folder that changes with the entry; a link is another entry than its target. */
const entriesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .map((entry) => {
      const name = entry.isSymbolicLink() ? `${entry.name} ->` : entry.name
      const found = statOf(join(folder, entry.name))
      return found ? `${name} ${found.ino} ${found.size} ${found.mtimeNs}` : name
    })
    .sort()

/** Returns the state of a folder and its subfolders as a text that changes when a file is written, replaced, created or deleted. */
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
 * Calls `onChange` when the files of these folders have changed and then stayed the same for one poll. It polls instead of
 * using `fs.watch`, whose events differ between platforms and do not pass through container mounts.
 */
export function watchFolders(
  folders: readonly string[],
  onChange: () => Promise<void>,
  everyMs = POLL_MS,
): Watch {
  const readState = () => folders.map(stateOf).join('\n\n')
  let known = readState()
  let last = known
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    const now = readState()
    const isStable = now === last
    last = now
    // Wait until the change is complete: an editor may write and then rename, and a checkout changes many files.
    if (!isStable || now === known) return
    known = now
    busy = true
    void onChange().finally(() => {
      busy = false
    })
  }, everyMs)
  timer.unref()
  return { close: () => clearInterval(timer) }
}
