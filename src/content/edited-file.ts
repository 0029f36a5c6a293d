import { isUtf8 } from 'node:buffer'
import { jsonPlaces } from '../json/json-positions.ts'
import { readLenientJson } from '../json/lenient-json.ts'
import { type Problem, problemText } from '../model/errors.ts'
import { isObject } from '../model/formats.ts'
import { fieldOf } from '../model/validation-errors.ts'
import { DamagedFile, FORMAT, OtherFormat } from '../store/errors.ts'
import type { DocumentContent } from '../store/states.ts'
import { DocumentCheck } from './edited-document.ts'

const MAX_PROBLEMS = 20

/** Parses the text; a syntax error and a key that is there twice have their place. */
function parsed(file: string, text: string, leaveOut: ((rows: number) => void) | undefined) {
  const faultOf = ({ line, column, message }: Omit<Problem, 'file' | 'path'>) =>
    new DamagedFile(problemText({ file, line, column, path: '', message }))
  try {
    const value = JSON.parse(text) as unknown
    const { fault } = leaveOut ? {} : jsonPlaces(text)
    if (fault) throw faultOf(fault)
    return value
  } catch (error) {
    if (error instanceof DamagedFile) throw error
    if (leaveOut) {
      const { value, lost } = readLenientJson(text)
      leaveOut(lost)
      return value
    }
    const { message } = error as Error
    throw faultOf(jsonPlaces(text).fault ?? { line: 1, column: 1, message })
  }
}

/**
 * Reads a data file that this program did not write as it is. Throws `DamagedFile` with all problems; or leaves out
 * what is wrong, and counts it.
 */
export async function readEdited(
  file: string,
  bytes: Buffer,
  isLenient: boolean,
  lost: (rows: number) => void,
): Promise<DocumentContent> {
  const leaveOut = isLenient ? lost : undefined
  if (!leaveOut && !isUtf8(bytes))
    throw new DamagedFile(`${file} isn't UTF-8 text; save it as UTF-8`)
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  const older = /^\{"payoutSandbox":(\d+)/.exec(text)?.[1]
  if (older !== undefined) throw new OtherFormat(file, older)
  const content = parsed(file, text, leaveOut)
  const format = isObject(content) ? content['format'] : undefined
  if (typeof format === 'number' && format !== FORMAT) throw new OtherFormat(file, format)
  const check = new DocumentCheck({ leaveOut })
  const read = await check.document(content)
  if (check.problems.length === 0) return read
  const shown = placed(check, file, text).map(problemText)
  const more = check.problems.length - shown.length
  throw new DamagedFile([...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'))
}

/** The problems of a document with their places in its text, or without it with their paths. */
export function placed({ problems }: DocumentCheck, file: string, text?: string): Problem[] {
  const places = text === undefined ? undefined : jsonPlaces(text)
  return problems.slice(0, MAX_PROBLEMS).map(({ path, message }) => {
    const field = fieldOf(path)
    const said = field && places ? `${field}: ${message}` : message
    const place = places?.placeOf(path) ?? { line: 0, column: 0 }
    return { file, ...place, path: field, message: said }
  })
}
