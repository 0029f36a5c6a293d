import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type JsonPath, jsonPlaces } from '../json/json-positions.ts'
import type { Problem } from '../model/errors.ts'
import { FIXTURE_FILES, FIXTURE_ROWS, type FixtureNoun } from '../model/fixtures.ts'
import { didYouMean, editDistance } from '../model/words.ts'
import { BadFixtures, FixtureError, problemAt, textOf } from './fixture-problems.ts'

export const NOUNS = Object.keys(FIXTURE_ROWS) as FixtureNoun[]
const fileOf = (noun: FixtureNoun) => `${noun.replaceAll('_', '-')}.json`
/** The unchecked rows of one noun, with their file and their path in it. */
export type RawTable = { noun: FixtureNoun; file: string; path: JsonPath; rows: unknown }

function readText(file: string): string {
  try {
    return textOf(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new BadFixtures([problemAt(file, [], `the file cannot be read (${code})`)])
  }
}

/** Parses a JSON file; throws `BadFixtures` with the position of a syntax error. */
export function parseFile(file: string): unknown {
  const text = readText(file)
  try {
    return JSON.parse(text)
  } catch (error) {
    const {
      line = 1,
      column = 1,
      message = (error as Error).message,
    } = jsonPlaces(text).fault ?? {}
    throw new BadFixtures([{ file, line, column, path: '', message }])
  }
}

/** The tables of a folder of fixture files, or of one file; throws if they cannot be read. */
export function readRaw(path: string): RawTable[] {
  if (!existsSync(path))
    throw new BadFixtures([
      problemAt(
        path,
        [],
        'there is no such file or folder; --fixtures takes a JSON file or a folder of JSON files',
      ),
    ])
  if (statSync(path).isDirectory()) {
    return NOUNS.map((noun) => ({ noun, file: join(path, fileOf(noun)), path: [] }))
      .filter(({ file }) => existsSync(file))
      .map((found) => ({ ...found, rows: parseFile(found.file) }))
  }
  return rawOf(path, parseFile(path))
}

/** A problem for each JSON file of a fixture folder that is not read, with the probably intended name. */
export function misnamedFiles(path: string): Problem[] {
  if (!existsSync(path) || !statSync(path).isDirectory()) return []
  const normalized = (name: string) =>
    name
      .toLowerCase()
      .replace(/s?\.json$/, '')
      .replaceAll('_', '-')
  return readdirSync(path)
    .filter((name) => /\.json$/i.test(name) && !FIXTURE_FILES.includes(name))
    .map((name) => {
      const meant = FIXTURE_FILES.find(
        (known) =>
          editDistance(normalized(known), normalized(name), 3) < 3 ||
          normalized(known).startsWith(normalized(name)),
      )
      const message = meant
        ? `is not a fixture file; did you mean ${meant}?`
        : `is not a fixture file; a fixture folder can contain ${FIXTURE_FILES.join(', ')}`
      return problemAt(join(path, name), [], message)
    })
}

/** The tables of one parsed file. */
export function rawOf(file: string, content: unknown): RawTable[] {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new FixtureError([problemAt(file, [], `must be an object with ${NOUNS.join(', ')}`)])
  }
  const unknown = Object.keys(content).filter((key) => !NOUNS.includes(key as FixtureNoun))
  if (unknown.length > 0) {
    const hint = (key: string) => didYouMean(key, NOUNS) || `; must be one of ${NOUNS.join(', ')}`
    throw new FixtureError(unknown.map((key) => problemAt(file, [key], `is unknown${hint(key)}`)))
  }
  return NOUNS.filter((noun) => noun in content).map((noun) => {
    return { noun, file, path: [noun], rows: (content as Record<string, unknown>)[noun] }
  })
}
