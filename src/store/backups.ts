import { constants } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type Disk, fileExists } from './disk.ts'

/** The journals of formats 1 to 3, and of 4 and 5, which have a number. */
export function olderJournals(disk: Disk, file: string): string[] {
  const name = basename(file)
  const stem = name.replace(/\.json$/, '')
  const isOlder = (one: string) =>
    [`${stem}.journal.jsonl`, `${stem}.journal.previous.jsonl`].includes(one) ||
    (one.startsWith(`${name}.journal.`) && /^\d+$/.test(one.slice(name.length + 9)))
  const folder = dirname(file)
  return disk.readdirSync(folder).flatMap((one) => (isOlder(one) ? [`${folder}/${one}`] : []))
}

/** The files of a data file that exist. */
export const dataFiles = (disk: Disk, file: string): string[] =>
  [file, `${file}.journal`, `${file}.tmp`, ...olderJournals(disk, file)].filter((path) =>
    fileExists(disk, path),
  )

type Place = { disk: Disk; file: string; wall: () => number }

/** Copies a file; returns the path of the copy. */
export function backUp({ disk, wall }: Place, file: string, why: string): string {
  const copy = `${file}.${why}-${new Date(wall()).toISOString().replaceAll(':', '-')}`
  if (!fileExists(disk, copy)) disk.copyFileSync(file, copy, constants.COPYFILE_EXCL)
  return copy
}

/** Copies the data files; returns the paths of the copies, to print. */
export const backUpAll = (place: Place, why = 'damaged'): string =>
  dataFiles(place.disk, place.file)
    .map((file) => backUp(place, file, why))
    .join(', ')
