import { existsSync, readFileSync } from 'node:fs'

/** Makes the reader of a file that the build writes. A process parses the file once; without a build it is `undefined`. */
export function builtFile<T>(parse: (text: string) => T): (path: string) => T | undefined {
  const known = new Map<string, T>()
  return (path) => {
    if (!known.has(path) && existsSync(path)) known.set(path, parse(readFileSync(path, 'utf8')))
    return known.get(path)
  }
}
