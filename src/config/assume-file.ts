import { readFileSync } from 'node:fs'
import type { Readings } from '../assumptions/readings.ts'
import { readingsOfDocument } from '../assumptions/readings-document.ts'

const HOW = 'conform --save FILE writes such a file'

/** Reads the readings that `conform --save` wrote. Returns them, or what is wrong and what to do. */
export function readAssumeFile(file: string): { readings: Readings } | { problem: string } {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const what = code === 'ENOENT' ? 'there is no such file' : `the file cannot be read (${code})`
    return { problem: `${file}: ${what}; ${HOW}` }
  }
  const read = readingsOfDocument(text)
  return 'problem' in read ? { problem: `${file} ${read.problem}; ${HOW}` } : read
}
