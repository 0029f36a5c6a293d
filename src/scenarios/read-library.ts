import { lstatSync, realpathSync, statSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { readText as textIn, UnreadableText } from '../config/files.ts'
import type { Problem } from '../model/errors.ts'
import { quoteValue } from '../model/words.ts'
import { createLibrary, type Library, type LibraryEntry } from './library.ts'
import { readScenario } from './read.ts'
import { checkReferences } from './references.ts'
import { nameOfFile, scenarioTree, statOf } from './scenario-files.ts'
import { SCENARIO_NAME } from './schema-parts.ts'
import { MAX_BYTES, type Path, tooLargeMessage } from './yaml.ts'

const MAX_FILES = 500

/** All scenarios of the folders, or the problems that prevent it; `files` lists every file that was read, valid or not. */
export type LibraryResult = { files: string[]; warnings: Problem[] } & (
  | { ok: true; library: Library }
  | { ok: false; problems: Problem[] }
)

type Loaded = LibraryEntry & { problemAt: (path: Path, message: string) => Problem }

const problemIn = (file: string, message: string) => ({
  file,
  line: 1,
  column: 1,
  path: '',
  message,
})

/** Returns the text of a file of the folder, or what is wrong with the file. A symbolic link must not point outside the folder. */
function readText(folder: string, entry: string): { text: string } | { problem: string } {
  const path = join(folder, entry)
  try {
    const inside = `${realpathSync(folder)}${sep}`
    if (lstatSync(path).isSymbolicLink() && !realpathSync(path).startsWith(inside))
      return {
        problem:
          'a symbolic link that points outside the folder; copy the file into the folder instead',
      }
    const { size } = statSync(path)
    return size > MAX_BYTES ? { problem: tooLargeMessage(size) } : { text: textIn(path) }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const problem = error instanceof UnreadableText ? message : `cannot be read (${code})`
    return { problem: `the file ${problem}` }
  }
}

/** Returns the scenario files of a folder and its subfolders, by scenario name. Ignores all other files. */
function scenarioEntries(
  folder: string,
  flat: boolean,
  scannedFiles: string[],
  problems: Problem[],
) {
  const entries = new Map<string, string>()
  const { files, problems: treeProblems } = scenarioTree(folder, flat)
  const reject = (file: string, message: string) => problems.push(problemIn(file, message))
  for (const message of treeProblems) reject(folder, message)
  if (files.length > MAX_FILES) {
    const message = `${files.length} scenario files; the maximum is ${MAX_FILES} for one folder and its subfolders`
    reject(folder, message)
  }
  for (const entry of files.slice(0, MAX_FILES)) {
    const file = join(folder, entry)
    scannedFiles.push(file)
    const name = nameOfFile(entry)
    const other = entries.get(name)
    if (!statOf(file)?.isFile())
      reject(file, 'this is not a regular file; remove it from the folder')
    else if (!SCENARIO_NAME.test(name)) {
      const message = `${quoteValue(basename(entry))} is not a valid scenario name (lowercase letters, digits and hyphens, at most 63 characters); rename the file`
      reject(file, message)
    } else if (other !== undefined) {
      const both = `${quoteValue(other)} also has the name ${quoteValue(name)}`
      reject(file, `${both}; rename or remove one of them`)
    } else entries.set(name, entry)
  }
  return entries
}

/** Reads the scenario files of folders; a name is that of the first that has it. Throws the error of `readdir` for a folder. */
export function readLibrary(folders: readonly string[], flat?: string): LibraryResult {
  const problems: Problem[] = []
  const warnings: Problem[] = []
  const files: string[] = []
  const loaded = new Map<string, Loaded>()
  // The name of a broken file counts as existing, so that references to it are not reported as well.
  const names = new Set<string>()
  for (const folder of folders) {
    for (const [name, entry] of scenarioEntries(folder, folder === flat, files, problems)) {
      // The first folder that has a name wins, even if its file is broken.
      if (names.has(name)) continue
      names.add(name)
      const file = join(folder, entry)
      const read = readText(folder, entry)
      if ('problem' in read) {
        problems.push(problemIn(file, read.problem))
        continue
      }
      const result = readScenario(read.text, { name, file })
      if (result.ok) {
        loaded.set(name, { file, scenario: result.scenario, problemAt: result.problemAt })
        warnings.push(...result.warnings)
      } else problems.push(...result.problems)
    }
  }
  const known = [...names].sort()
  const find = (name: string) => loaded.get(name)?.scenario
  for (const { scenario, problemAt } of loaded.values()) {
    for (const { path, message } of checkReferences(scenario, known, find))
      problems.push(problemAt(path, message))
  }
  if (problems.length > 0) return { ok: false, files, problems, warnings }
  return { ok: true, files, library: createLibrary(loaded), warnings }
}
