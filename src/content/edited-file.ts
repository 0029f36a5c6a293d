import { isUtf8 } from 'node:buffer'
import { type Problem, problemText } from '../model/errors.ts'
import { isObject } from '../model/formats.ts'
import { fieldOf } from '../model/validation-errors.ts'
import { DamagedFile, FORMAT, OtherFormat } from '../store/errors.ts'
import type { DocumentContent } from '../store/states.ts'
import { DocumentCheck } from './edited-document.ts'
import { parseJson, placesIn } from './json-text.ts'

const MAX_PROBLEMS = 20

/** Reads a data file that this program did not write as it is. Throws `DamagedFile` with all problems. */
export async function readEdited(file: string, bytes: Buffer): Promise<DocumentContent> {
  if (!isUtf8(bytes)) throw new DamagedFile(`${file} isn't UTF-8 text; save it as UTF-8`)
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  const older = /^\{"payoutSandbox":(\d+)/.exec(text)?.[1]
  if (older !== undefined) throw new OtherFormat(file, older)
  const parsed = parseJson(text)
  if ('fault' in parsed) throw new DamagedFile(problemText({ file, path: '', ...parsed.fault }))
  const { value } = parsed
  const format = isObject(value) ? value['format'] : undefined
  if (typeof format === 'number' && format !== FORMAT) throw new OtherFormat(file, format)
  const check = new DocumentCheck()
  const read = await check.document(value)
  if (check.problems.length === 0) return read
  const shown = placed(check, file, text).map(problemText)
  const more = check.problems.length - shown.length
  throw new DamagedFile([...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'))
}

/** The problems of a document with their places in its text, or without it with their paths. */
export function placed({ problems }: DocumentCheck, file: string, text?: string): Problem[] {
  const placeOf = text === undefined ? undefined : placesIn(text)
  return problems.slice(0, MAX_PROBLEMS).map(({ path, message }) => {
    const field = fieldOf(path)
    const place = placeOf?.(path) ?? { line: 0, column: 0 }
    const said = field && place.line > 0 ? `${field}: ${message}` : message
    return { file, ...place, path: field, message: said }
  })
}
