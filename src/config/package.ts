import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of package.json, fixtures and scenarios: the nearest parent folder of the source file or of the bundle. */
export const PACKAGE_ROOT: string = (() => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder)
    folder = dirname(folder)
  return folder
})()

export const VERSION: string = JSON.parse(
  readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'),
).version

/** Makes the reader of a file that the build writes. A process parses the file once; without a build it is `undefined`. */
export function builtFile<T>(parse: (text: string) => T): (path: string) => T | undefined {
  const known = new Map<string, T>()
  return (path) => {
    if (!known.has(path) && existsSync(path)) known.set(path, parse(readFileSync(path, 'utf8')))
    return known.get(path)
  }
}
