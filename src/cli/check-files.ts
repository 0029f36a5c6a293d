import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { PACKAGE_ROOT } from '../config/package-root.ts'
import type { Problem } from '../core/problem.ts'
import { isScenarioFile, readLibrary } from '../scenarios/read-library.ts'
import { BadFixtures } from '../services/fixture-problems.ts'
import { FIXTURE_FILES, readFixtures } from '../services/fixtures.ts'

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

/** All of a folder's scenarios, or those `asked` for; names that they use may be of the other folders too. */
function checkScenarios(
  folder: string,
  { scenarios }: Folders,
  asked?: readonly string[],
): Checked {
  const own = (scenarios === undefined ? [] : [scenarios]).filter(existsSync)
  const read = readLibrary([...new Set([folder, ...own, SHIPPED_SCENARIOS])])
  const isMine = (file: string) => (asked ? asked.includes(file) : dirname(file) === join(folder))
  const mine = ({ file }: Problem) => isMine(file) || (!asked && file === folder)
  const files = read.files.filter(isMine)
  const problems = read.ok ? [] : read.problems.filter(mine)
  for (const file of asked ?? []) {
    if (files.includes(file)) continue
    files.push(file)
    const message = 'a name with a dot in front, or of a .schema.json, is that of no scenario'
    problems.push(problemIn(file, message))
  }
  return { files, problems, warnings: read.warnings.filter(mine) }
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

/** All files of a folder: as fixtures what a start would take for them, the rest as scenarios. */
function checkFolder(folder: string, folders: Folders): Checked {
  const entries = readdirSync(folder)
  const files = entries.filter(isScenarioFile).map((entry) => join(folder, entry))
  // Where one file has the name of a fixture file, a start takes every JSON file for one.
  const isFixtures = entries.some((entry) => FIXTURE_FILES.includes(entry))
  const sets = isFixtures ? [] : files.filter(isFixtureSet)
  if (!isFixtures && sets.length === 0) return checkScenarios(folder, folders)
  const scenarios = files.filter((file) =>
    isFixtures ? !file.endsWith('.json') : !sets.includes(file),
  )
  return joined([
    ...(isFixtures ? [checkFixtures(folder)] : []),
    ...sets.map((file) => checkFixtures(file)),
    ...(scenarios.length > 0 ? [checkScenarios(folder, folders, scenarios)] : []),
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
  return checkScenarios(dirname(file), folders, [file])
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
