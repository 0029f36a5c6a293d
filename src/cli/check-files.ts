import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { PACKAGE_ROOT } from '../config/package-root.ts'
import type { Problem } from '../core/problem.ts'
import { FIXTURE_FILES } from '../model/fixtures.ts'
import { readLibrary } from '../scenarios/read-library.ts'
import { containsFixtures, scenarioTree } from '../scenarios/scenario-files.ts'
import { BadFixtures } from '../services/fixture-problems.ts'
import { readFixtures } from '../services/fixtures.ts'

/** What was looked at, and what was found. */
export type Checked = { files: string[]; problems: Problem[]; warnings: Problem[] }

/** The folders that a start would read; without one, the shipped set. */
export type Folders = { scenarios: string | undefined; fixtures: string | undefined }

const SHIPPED_SCENARIOS = join(PACKAGE_ROOT, 'scenarios')
const SHIPPED_FIXTURES = join(PACKAGE_ROOT, 'fixtures')
const NOUNS = FIXTURE_FILES.map((file) => file.replace('.json', '').replaceAll('-', '_'))

const isFolder = (path: string) => statSync(path).isDirectory()
const problemIn = (file: string, message: string): Problem => ({
  file,
  line: 1,
  column: 1,
  path: '',
  message,
})

/** Whether a file is in a folder, or in one below it. */
function isBelow(folder: string, file: string): boolean {
  const path = relative(folder, file)
  return !path.startsWith('..') && !isAbsolute(path)
}

/** Reads a folder's scenarios; names that they use may be of the other folders too. `flat`: not those in its folders. */
function readWith(folder: string, { scenarios }: Folders, flat = false) {
  const own = (scenarios === undefined ? [] : [scenarios]).filter(existsSync)
  const isFlat = flat && !own.some((one) => join(one) === folder)
  return readLibrary([...new Set([folder, ...own, SHIPPED_SCENARIOS])], isFlat ? folder : undefined)
}

/** The scenarios of a folder and those in it, save `others`. */
function checkScenarios(folder: string, folders: Folders, others: readonly string[] = []): Checked {
  const read = readWith(folder, folders)
  const isMine = (file: string) => isBelow(folder, file) && !others.includes(file)
  const mine = ({ file }: Problem) => isMine(file)
  return {
    files: read.files.filter(isMine),
    problems: read.ok ? [] : read.problems.filter(mine),
    warnings: read.warnings.filter(mine),
  }
}

/** One scenario file. */
function checkScenario(file: string, folders: Folders): Checked {
  const folder = dirname(file)
  const read = readWith(folder, folders, true)
  const mine = (one: Problem) => one.file === file
  const problems = read.ok ? [] : read.problems.filter(mine)
  if (!read.files.includes(file)) {
    const isBesideFixtures = file.endsWith('.json') && containsFixtures(readdirSync(folder))
    const message = isBesideFixtures
      ? 'a start takes each JSON file in a folder with fixtures for fixtures; move the scenario elsewhere'
      : 'a name with a dot in front, or of a .schema.json, is that of no scenario'
    problems.push(problemIn(file, message))
  }
  return { files: [file], problems, warnings: read.warnings.filter(mine) }
}

/** A fixture set; `asked`: only what is wrong in that one file of a folder. */
function checkFixtures(path: string, asked?: string): Checked {
  const inFolder = existsSync(path) && isFolder(path)
  const files = asked
    ? [asked]
    : inFolder
      ? FIXTURE_FILES.map((file) => join(path, file)).filter(existsSync)
      : [path]
  try {
    readFixtures(path)
    return { files, problems: [], warnings: [] }
  } catch (error) {
    if (!(error instanceof BadFixtures)) throw error
    const problems = error.problems.map((one) =>
      one.line > 0 ? one : { ...one, line: 1, column: 1 },
    )
    return {
      files,
      problems: problems.filter(({ file }) => !asked || file === asked),
      warnings: [],
    }
  }
}

const keysOf = (file: string): string[] => {
  try {
    return Object.keys(JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, '')))
  } catch {
    return []
  }
}

const joined = (all: readonly Checked[]): Checked => ({
  files: [...new Set(all.flatMap(({ files }) => files))],
  problems: all.flatMap(({ problems }) => problems),
  warnings: all.flatMap(({ warnings }) => warnings),
})

/** Whether all of a fixture set is in this one file. */
const isFixtureSet = (file: string) =>
  file.endsWith('.json') && keysOf(file).some((key) => NOUNS.includes(key))

/** All files of a folder and of those in it: as fixtures what a start would take for them, the rest as scenarios. */
function checkFolder(folder: string, folders: Folders): Checked {
  const { files, fixtureFolders } = scenarioTree(folder)
  const sets = files.map((file) => join(folder, file)).filter(isFixtureSet)
  return joined([
    ...fixtureFolders.map((path) => checkFixtures(join(folder, path))),
    ...sets.map((file) => checkFixtures(file)),
    checkScenarios(folder, folders, sets),
  ])
}

function checkOne(path: string, folders: Folders): Checked {
  const file = join(path)
  const refused = (message: string) => ({
    files: [file],
    problems: [problemIn(file, message)],
    warnings: [],
  })
  if (!existsSync(file)) return refused('there is no such file or folder')
  if (isFolder(file)) return checkFolder(file, folders)
  if (!/\.(?:yaml|yml|json)$/.test(file))
    return refused('no scenario (.yaml, .yml, .json) and no fixture file (.json)')
  if (file.endsWith('.json')) {
    if (isFixtureSet(file)) return checkFixtures(file)
    if (FIXTURE_FILES.includes(basename(file))) return checkFixtures(dirname(file), file)
  }
  return checkScenario(file, folders)
}

/** Checks files, and all that is in folders. */
export const checkFiles = (paths: readonly string[], folders: Folders): Checked =>
  joined([...new Set(paths)].map((path) => checkOne(path, folders)))

/** Checks all that a start with these folders would read. */
export function checkAll(folders: Folders): Checked {
  const { scenarios = SHIPPED_SCENARIOS, fixtures = SHIPPED_FIXTURES } = folders
  const missing = problemIn(scenarios, 'there is no such folder')
  return joined([
    existsSync(scenarios) && isFolder(scenarios)
      ? checkScenarios(scenarios, folders)
      : { files: [scenarios], problems: [missing], warnings: [] },
    checkFixtures(fixtures),
  ])
}
