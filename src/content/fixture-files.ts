import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readText as textIn } from '../config/files.ts'
import type { Problem } from '../model/errors.ts'
import { FIXTURE_FILES } from '../model/fixtures.ts'
import { editDistance } from '../model/words.ts'
import {
  BadFixtures,
  type FixtureProblem,
  type FixtureWorlds,
  NOUNS,
  problemAt,
  type RawTable,
  rawOf,
  worldsOf,
} from './fixtures.ts'
import { parseJson, problemsIn } from './json-text.ts'

/** The files of a folder that are read, by what they contain; the case of a name makes no difference. */
export const fixtureFilesIn = (folder: string) => {
  const entries = readdirSync(folder)
  return NOUNS.flatMap((noun, i) => {
    const name = entries.find((entry) => entry.toLowerCase() === FIXTURE_FILES[i])
    return name === undefined ? [] : [{ noun, name }]
  })
}

function readText(file: string): string {
  try {
    return textIn(file)
  } catch (error) {
    throw new BadFixtures([problemAt(file, `the file ${(error as Error).message}`)])
  }
}

/** Parses a JSON file; throws `BadFixtures` with the position of a syntax error. */
export function parseFile(file: string): { text: string; content: unknown } {
  const text = readText(file)
  const read = parseJson(text)
  if ('fault' in read) throw new BadFixtures([{ file, path: '', ...read.fault }])
  return { text, content: read.value }
}

/** The tables of a folder of fixture files, or of one file; throws if they cannot be read. */
function readRaw(path: string): RawTable[] {
  if (!existsSync(path))
    throw new BadFixtures([
      problemAt(
        path,
        'there is no such file or folder; --fixtures takes a JSON file or a folder of JSON files',
      ),
    ])
  if (statSync(path).isDirectory())
    return fixtureFilesIn(path).map(({ noun, name }) => {
      const file = join(path, name)
      return { noun, file, path: [], rows: parseFile(file).content }
    })
  return rawOf(path, parseFile(path).content)
}

/** A problem for each JSON file of a fixture folder that is not read, with the probably intended name. */
function misnamedFiles(path: string): Problem[] {
  if (!existsSync(path) || !statSync(path).isDirectory()) return []
  const normalized = (name: string) =>
    name
      .toLowerCase()
      .replace(/s?\.json$/, '')
      .replaceAll('_', '-')
  const read = fixtureFilesIn(path).map(({ name }) => name)
  return readdirSync(path)
    .filter((name) => /\.json$/i.test(name) && !read.includes(name))
    .map((name) => {
      const meant = FIXTURE_FILES.find(
        (known) =>
          editDistance(normalized(known), normalized(name), 3) < 3 ||
          normalized(known).startsWith(normalized(name)),
      )
      const message = meant
        ? `is not a fixture file; did you mean ${meant}?`
        : `is not a fixture file; a fixture folder can contain ${FIXTURE_FILES.join(', ')}`
      return problemAt(join(path, name), message)
    })
}

/** The unchecked content of a folder of fixture files or of one file, as `fixturesOf` takes it. */
export const fixtureContent = (path: string): Record<string, unknown> =>
  Object.fromEntries(readRaw(path).map(({ noun, rows }) => [noun, rows]))

/** The problems of a set with their places; only an invalid set has this cost. */
function placed(problems: readonly FixtureProblem[]): Problem[] {
  const files = new Map<string, ReturnType<typeof problemsIn>>()
  return problems.map(({ at, ...problem }) => {
    if (!at) return problem
    const { file, message } = problem
    const problemOf = files.get(file) ?? problemsIn(file, readText(file))
    files.set(file, problemOf)
    return problemOf(at, message)
  })
}

/** Reads a folder of fixture files, or one file with everything; throws `BadFixtures` if anything is wrong. */
export function readFixtures(path: string): FixtureWorlds {
  const misnamed = misnamedFiles(path)
  try {
    const raws = readRaw(path)
    if (raws.length === 0) {
      const message = `contains none of ${FIXTURE_FILES.join(', ')}`
      throw new BadFixtures([problemAt(path, message), ...misnamed])
    }
    const worlds = worldsOf(raws)
    if (misnamed.length > 0) throw new BadFixtures(misnamed)
    return worlds
  } catch (error) {
    throw error instanceof BadFixtures ? new BadFixtures(placed(error.problems)) : error
  }
}
