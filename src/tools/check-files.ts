// tools/: what stands on the service and is not part of it: checks, reports, the sweep, the server for agents, the
// console. No start loads them. Here are the files of validate and generate, and what several tools share.

import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { readJson } from '../config/files.ts'
import { PACKAGE_ROOT } from '../config/package.ts'
import { fixtureFilesIn, readFixtures } from '../content/fixture-files.ts'
import { BadFixtures } from '../content/fixtures.ts'
import type { Problem } from '../model/errors.ts'
import { FIXTURE_FILES } from '../model/fixtures.ts'
import { readLibrary } from '../scenarios/read-library.ts'
import { containsFixtures, scenarioTree } from '../scenarios/scenario-files.ts'

type CheckResult = { files: string[]; problems: Problem[]; warnings: Problem[] }

/** The folders of the user; `undefined` means that the shipped one is used. */
export type Folders = { scenarios: string | undefined; fixtures: string | undefined }

const SHIPPED_SCENARIOS = join(PACKAGE_ROOT, 'scenarios')
const SHIPPED_FIXTURES = join(PACKAGE_ROOT, 'fixtures')
const FIXTURE_TABLES = FIXTURE_FILES.map((file) => file.replace('.json', '').replaceAll('-', '_'))

const isJson = (file: string) => /\.json$/i.test(file)
const isFolder = (path: string) => statSync(path).isDirectory()
const START = { line: 1, column: 1 }
const fileProblem = (file: string, message: string) => ({ ...START, file, path: '', message })

function isInside(folder: string, file: string): boolean {
  const path = relative(folder, file)
  return !path.startsWith('..') && !isAbsolute(path)
}

/** Reads the scenarios of a folder; they can refer to scenarios of the other folders. `flat` leaves out the subfolders. */
function readScenarios(folder: string, { scenarios }: Folders, flat = false) {
  const own = (scenarios === undefined ? [] : [scenarios]).filter(existsSync)
  const isFlat = flat && !own.some((one) => join(one) === folder)
  return readLibrary([...new Set([folder, ...own, SHIPPED_SCENARIOS])], isFlat ? folder : undefined)
}

function checkScenarios(
  folder: string,
  folders: Folders,
  exclude: readonly string[] = [],
): CheckResult {
  const read = readScenarios(folder, folders)
  const isIncluded = (file: string) => isInside(folder, file) && !exclude.includes(file)
  const isOwn = ({ file }: Problem) => isIncluded(file)
  return {
    files: read.files.filter(isIncluded),
    problems: read.ok ? [] : read.problems.filter(isOwn),
    warnings: read.warnings.filter(isOwn),
  }
}

function checkScenario(file: string, folders: Folders): CheckResult {
  const folder = dirname(file)
  const read = readScenarios(folder, folders, true)
  const isOwn = (problem: Problem) => problem.file === file
  const problems = read.ok ? [] : read.problems.filter(isOwn)
  if (!read.files.includes(file)) {
    const isBesideFixtures = isJson(file) && containsFixtures(readdirSync(folder))
    const message = isBesideFixtures
      ? 'in a folder with fixtures, start reads each JSON file as fixtures; move the scenario to another folder'
      : 'files whose name starts with a dot or ends with .schema.json are not read as scenarios; rename the file'
    problems.push(fileProblem(file, message))
  }
  return { files: [file], problems, warnings: read.warnings.filter(isOwn) }
}

/** Checks the fixtures of a file or folder; `onlyFile` limits the result to one file of the folder. */
function checkFixtures(path: string, onlyFile?: string): CheckResult {
  const inFolder = existsSync(path) && isFolder(path)
  const files = onlyFile
    ? [onlyFile]
    : inFolder
      ? fixtureFilesIn(path).map(({ name }) => join(path, name))
      : [path]
  let problems: Problem[] = []
  try {
    readFixtures(path)
  } catch (error) {
    if (!(error instanceof BadFixtures)) throw error
    problems = error.problems.map((one) => (one.line > 0 ? one : { ...one, ...START }))
  }
  const shown = problems.filter(({ file }) => !onlyFile || file === onlyFile)
  return { files, problems: shown, warnings: [] }
}

const keysOf = (file: string): string[] => {
  try {
    return Object.keys(readJson(file) as object)
  } catch {
    return []
  }
}

const mergeResults = (all: readonly CheckResult[]): CheckResult => ({
  files: [...new Set(all.flatMap(({ files }) => files))],
  problems: all.flatMap(({ problems }) => problems),
  warnings: all.flatMap(({ warnings }) => warnings),
})

const isFixtureSet = (file: string) =>
  isJson(file) && keysOf(file).some((key) => FIXTURE_TABLES.includes(key))

/** Checks all files of a folder and its subfolders: as fixtures if `start` would read them as such, otherwise as scenarios. */
function checkFolder(folder: string, folders: Folders): CheckResult {
  const { files, fixtureFolders } = scenarioTree(folder)
  const sets = files.map((file) => join(folder, file)).filter(isFixtureSet)
  return mergeResults([
    ...fixtureFolders.map((path) => checkFixtures(join(folder, path))),
    ...sets.map((file) => checkFixtures(file)),
    checkScenarios(folder, folders, sets),
  ])
}

function checkOne(path: string, folders: Folders): CheckResult {
  const file = join(path)
  if (isFolder(file)) return checkFolder(file, folders)
  if (!/\.(?:yaml|yml|json)$/i.test(file)) {
    const message = 'neither a scenario file (.yaml, .yml, .json) nor a fixture file (.json)'
    return { files: [file], problems: [fileProblem(file, message)], warnings: [] }
  }
  if (isJson(file)) {
    if (isFixtureSet(file)) return checkFixtures(file)
    if (FIXTURE_FILES.includes(basename(file).toLowerCase()))
      return checkFixtures(dirname(file), file)
  }
  return checkScenario(file, folders)
}

export const checkFiles = (paths: readonly string[], folders: Folders): CheckResult =>
  mergeResults([...new Set(paths)].map((path) => checkOne(path, folders)))

export const checkFolders = (folders: Folders): CheckResult =>
  mergeResults([
    ...(folders.scenarios === undefined ? [] : [checkScenarios(folders.scenarios, folders)]),
    ...(folders.fixtures === undefined ? [] : [checkFixtures(folders.fixtures)]),
  ])

/** Checks the shipped files. They are named within the package, because a single executable has no paths for them. */
export function checkShipped() {
  const folders = { scenarios: undefined, fixtures: undefined }
  const { files, ...found } = mergeResults([
    checkScenarios(SHIPPED_SCENARIOS, folders),
    checkFixtures(SHIPPED_FIXTURES),
  ])
  const shipped = files.map((file) => relative(PACKAGE_ROOT, file).replaceAll(sep, '/'))
  return { ...found, files: [], shipped }
}
