import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { createLibrary, type Library, type LibraryEntry, referencesOf } from './library.ts'
import { type Problem, readScenario } from './read.ts'
import { nameOfFile, scenarioTree } from './scenario-files.ts'
import { SCENARIO_NAME } from './value-schema.ts'
import { shown } from './wording.ts'
import type { Path } from './yaml-source.ts'

const MAX_FILES = 500
const MAX_BYTES = 64 * 1024

/** A whole set of scenarios, or why there is none; `files` are those that were looked at, good or bad. */
export type LibraryResult = { files: string[]; warnings: Problem[] } & (
  | { ok: true; library: Library }
  | { ok: false; problems: Problem[] }
)

type Loaded = LibraryEntry & { problemAt: (path: Path, message: string) => Problem }

const problemIn = (file: string, message: string): Problem => ({
  file,
  line: 1,
  column: 1,
  path: '',
  message,
})

/** The text of a file of the folder, or what is wrong with it. A link must not lead out of the folder. */
function textOf(folder: string, entry: string): { text: string } | { refused: string } {
  const path = join(folder, entry)
  const inside = `${realpathSync(folder)}${sep}`
  if (lstatSync(path).isSymbolicLink() && !realpathSync(path).startsWith(inside)) {
    return { refused: 'a link that leads out of the folder; copy the file instead' }
  }
  const { size } = statSync(path)
  if (size > MAX_BYTES) {
    return {
      refused: `the file has ${size} bytes; at most ${MAX_BYTES} (64 KiB) are read. Split it with extends`,
    }
  }
  try {
    return {
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path)),
    }
  } catch {
    return { refused: 'the file is not UTF-8; save it as that' }
  }
}

/** The scenario files of a folder and the folders in it, by name; everything else there is left alone. */
function entriesOf(folder: string, flat: boolean, seen: string[], problems: Problem[]) {
  const entries = new Map<string, string>()
  const isFile = (entry: string) =>
    statSync(join(folder, entry), { throwIfNoEntry: false })?.isFile()
  const { files, problems: left } = scenarioTree(folder, flat)
  problems.push(...left.map((message) => problemIn(folder, message)))
  if (files.length > MAX_FILES) {
    problems.push(
      problemIn(
        folder,
        `${files.length} scenario files; at most ${MAX_FILES} are read from one folder`,
      ),
    )
  }
  for (const entry of files.slice(0, MAX_FILES)) {
    const file = join(folder, entry)
    seen.push(file)
    const name = nameOfFile(entry)
    const other = entries.get(name)
    if (!isFile(entry))
      problems.push(problemIn(file, 'this is no file that can be read; remove it from the folder'))
    else if (!SCENARIO_NAME.test(name)) {
      const message = `${shown(basename(entry))} gives no name: small letters, digits and hyphens, at most 63; rename the file`
      problems.push(problemIn(file, message))
    } else if (other !== undefined) {
      problems.push(problemIn(file, `${shown(other)} has the name ${shown(name)} too; keep one`))
    } else entries.set(name, entry)
  }
  return entries
}

function load(
  folders: readonly string[],
  flat: string | undefined,
  problems: Problem[],
  warnings: Problem[],
) {
  const loaded = new Map<string, Loaded>()
  const names = new Set<string>()
  const files: string[] = []
  for (const folder of folders) {
    for (const [name, entry] of entriesOf(folder, folder === flat, files, problems)) {
      // A folder searched before has the last word about a name, even with a broken file.
      if (names.has(name)) continue
      names.add(name)
      const file = join(folder, entry)
      const read = textOf(folder, entry)
      if ('refused' in read) {
        problems.push(problemIn(file, read.refused))
        continue
      }
      const result = readScenario(read.text, { name, file })
      warnings.push(...result.warnings)
      if (result.ok)
        loaded.set(name, { file, scenario: result.scenario, problemAt: result.problemAt })
      else problems.push(...result.problems)
    }
  }
  return { loaded, files, names: [...names].sort() }
}

/**
 * Reads the scenario files of these folders, the first one searched first, with the folders in them save in the one that
 * is `flat`. Either every file is right and every name
 * in them is known, or there is no library, but all problems.
 *
 * Throws what `readdir` throws where a folder cannot be read.
 */
export function readLibrary(folders: readonly string[], flat?: string): LibraryResult {
  const problems: Problem[] = []
  const warnings: Problem[] = []
  // While a file is broken its name is not missing.
  const { loaded, files, names } = load(folders, flat, problems, warnings)
  const find = (name: string) => loaded.get(name)?.scenario
  for (const { scenario, problemAt } of loaded.values()) {
    for (const { path, message } of referencesOf(scenario, names, find))
      problems.push(problemAt(path, message))
  }
  if (problems.length > 0) return { ok: false, files, problems, warnings }
  return { ok: true, files, library: createLibrary(loaded), warnings }
}
