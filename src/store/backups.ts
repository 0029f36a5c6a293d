import { constants } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type Disk, fileExists } from './disk.ts'
import { OtherFormat } from './errors.ts'

type Place = { disk: Disk; file: string; wall: () => number }

/** The journals of formats 1 to 3, and of 4 and 5, which have a number. */
export function olderFiles(disk: Disk, file: string): string[] {
  const folder = dirname(file)
  const name = basename(file)
  const stem = name.replace(/\.json$/, '')
  return disk
    .readdirSync(folder)
    .filter(
      (one) =>
        one === `${stem}.journal.previous.jsonl` ||
        one === `${stem}.journal.jsonl` ||
        (one.startsWith(`${name}.journal.`) && /^\d+$/.test(one.slice(name.length + 9))),
    )
    .map((one) => `${folder}/${one}`)
}

/** Throws if a sandbox of another version was killed before its first document. */
export function rejectOlderFormats(disk: Disk, file: string) {
  const [older] = fileExists(disk, file) ? [] : olderFiles(disk, file)
  if (older !== undefined) throw new OtherFormat(older, '5 or older')
}

/** The files of a data file that exist. */
export const dataFiles = (disk: Disk, file: string): string[] =>
  [file, `${file}.journal`, `${file}.tmp`, ...olderFiles(disk, file)].filter((path) =>
    fileExists(disk, path),
  )

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
