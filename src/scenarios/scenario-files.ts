import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { FIXTURE_FILES } from '../model/fixtures.ts'

const ENDING = /\.(?:yaml|yml|json)$/
const MAX_DEPTH = 8
const MAX_FOLDERS = 200

/** The name of the scenario in a file: that of the file, without folder and ending. */
export const nameOfFile = (file: string): string => file.replace(/^.*[\\/]/, '').replace(ENDING, '')

/** Whether an entry of a folder is taken for a scenario, by its name. */
const isScenarioFile = (entry: string): boolean =>
  ENDING.test(entry) && !entry.endsWith('.schema.json') && !entry.startsWith('.')

/** Whether a folder holds fixtures: then its JSON files are fixtures, and none of them is a scenario. */
export const holdsFixtures = (entries: readonly string[]): boolean =>
  entries.some((entry) => FIXTURE_FILES.includes(entry))

/** What is in a folder and below it; paths are relative to it. */
export type ScenarioTree = {
  folders: string[]
  fixtureFolders: string[]
  files: string[]
  /** What was not looked at, and why. */
  problems: string[]
}

/**
 * The scenario files of a folder and of the folders in it, `flat`: of the folder alone. Folders that are links, that
 * begin with a dot, or that are called `node_modules` are left out.
 */
export function scenarioTree(folder: string, flat = false): ScenarioTree {
  const tree: ScenarioTree = { folders: [], fixtureFolders: [], files: [], problems: [] }

  let isTooLarge = false

  function entriesOf(path: string) {
    try {
      return readdirSync(join(folder, path), { withFileTypes: true })
    } catch (error) {
      if (path === '') throw error
      const { code } = error as NodeJS.ErrnoException
      tree.problems.push(`the folder ${path} in it cannot be read (${code})`)
      return []
    }
  }

  function walk(path: string, depth: number) {
    if (depth > MAX_DEPTH) {
      tree.problems.push(`the folder ${path} in it is more than ${MAX_DEPTH} folders deep`)
      return
    }
    isTooLarge ||= tree.folders.length >= MAX_FOLDERS
    if (isTooLarge) return
    tree.folders.push(path)
    const entries = entriesOf(path).sort((a, b) => (a.name < b.name ? -1 : 1))
    const isFixtures = holdsFixtures(entries.map(({ name }) => name))
    if (isFixtures) tree.fixtureFolders.push(path)
    for (const { name } of entries)
      if (isScenarioFile(name) && !(isFixtures && name.endsWith('.json')))
        tree.files.push(join(path, name))
    if (flat) return
    for (const entry of entries)
      if (entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name) && !ENDING.test(entry.name))
        walk(join(path, entry.name), depth + 1)
  }

  walk('', 0)
  if (isTooLarge)
    tree.problems.push(
      `there are more than ${MAX_FOLDERS} folders in it; name one that holds only scenarios`,
    )
  return tree
}
