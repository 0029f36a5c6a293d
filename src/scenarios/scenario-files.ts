import { type BigIntStats, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { FIXTURE_FILES } from '../model/fixtures.ts'

const EXTENSION = /\.(?:yaml|yml|json)$/i
const MAX_DEPTH = 8
const MAX_FOLDERS = 200

/** Returns the name of the scenario in a file: the file name in small letters, without folder and extension. */
export const nameOfFile = (file: string): string =>
  file
    .replace(/^.*[\\/]/, '')
    .replace(EXTENSION, '')
    .toLowerCase()

/** JSON files that are no scenarios: JSON Schemas, and the result of a sweep, which has its scenarios beside it. */
const OTHER_FILE = /\.schema\.json$|^sweep\.json$/i

/** Whether an entry of a folder is a scenario file, judged by its name. */
const isScenarioFile = (entry: string): boolean =>
  EXTENSION.test(entry) && !OTHER_FILE.test(entry) && !entry.startsWith('.')

/** Whether a folder contains fixtures. If so, none of its JSON files is a scenario. */
export const containsFixtures = (entries: readonly string[]): boolean =>
  entries.some((entry) => FIXTURE_FILES.includes(entry.toLowerCase()))

/** What a path leads to; `undefined` if it leads nowhere, such as a symbolic link to itself. */
export function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true })
  } catch {
    return undefined
  }
}

/** The content of a folder and its subfolders; paths are relative to the folder. */
export type ScenarioTree = {
  folders: string[]
  fixtureFolders: string[]
  files: string[]
  /** The folders that were skipped, and why. */
  problems: string[]
}

/** Finds the scenario files of a folder; with `flat`, not those of subfolders. Throws if the folder cannot be read. */
export function scenarioTree(folder: string, flat = false): ScenarioTree {
  const tree: ScenarioTree = { folders: [], fixtureFolders: [], files: [], problems: [] }

  let isTooLarge = false

  function entriesOf(path: string) {
    try {
      return readdirSync(join(folder, path), { withFileTypes: true })
    } catch (error) {
      if (path === '') throw error
      const { code } = error as NodeJS.ErrnoException
      tree.problems.push(`the subfolder ${path} cannot be read (${code})`)
      return []
    }
  }

  function walk(path: string, depth: number) {
    if (depth > MAX_DEPTH) {
      tree.problems.push(`the subfolder ${path} is more than ${MAX_DEPTH} levels deep`)
      return
    }
    isTooLarge ||= tree.folders.length >= MAX_FOLDERS
    if (isTooLarge) return
    tree.folders.push(path)
    const entries = entriesOf(path).sort((a, b) => (a.name < b.name ? -1 : 1))
    const isFixtures = containsFixtures(entries.map(({ name }) => name))
    if (isFixtures) tree.fixtureFolders.push(path)
    for (const { name } of entries)
      if (isScenarioFile(name) && !(isFixtures && /\.json$/i.test(name)))
        tree.files.push(join(path, name))
    if (flat) return
    for (const entry of entries)
      if (
        entry.isDirectory() &&
        !/^\.|^node_modules$/.test(entry.name) &&
        !EXTENSION.test(entry.name)
      )
        walk(join(path, entry.name), depth + 1)
  }

  walk('', 0)
  if (isTooLarge)
    tree.problems.push(
      `the folder has more than ${MAX_FOLDERS} subfolders; choose a folder that contains only scenarios`,
    )
  return tree
}

export type Watch = { close(): void }

// Real ms. Short enough for a person who saves a file and tries it, and cheap.
const POLL_MS = 200

/** Returns a string for each entry of one folder that changes with the entry; a link is another entry than its target. */
const entriesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .map((entry) => {
      const name = entry.isSymbolicLink() ? `${entry.name} ->` : entry.name
      const found = statOf(join(folder, entry.name))
      return found ? `${name} ${found.ino} ${found.size} ${found.mtimeNs}` : name
    })
    .sort()

/** Returns the state of a folder and its subfolders as a string that changes when a file is written, replaced, created or deleted. */
function stateOf(folder: string): string {
  try {
    return scenarioTree(folder)
      .folders.flatMap((path) => [path, ...entriesIn(join(folder, path))])
      .join('\n')
  } catch {
    return 'gone'
  }
}

export const stateOfAll = (folders: readonly string[]) => folders.map(stateOf).join('\n\n')

/** Calls `onChange` when files changed and then stayed the same for one poll: `fs.watch` does not pass through container mounts. */
export function watchFolders(
  folders: readonly string[],
  onChange: () => Promise<void>,
  known = stateOfAll(folders),
  everyMs = POLL_MS,
): Watch {
  let last = known
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    const now = stateOfAll(folders)
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
