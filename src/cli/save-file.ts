import { closeSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { isStream, openInPlace, removeFile } from '../report/output-file.ts'
import { CommandFailed } from './command.ts'

/**
 * Prepares to save a text in a file, so that a file that cannot be written is known before the work for it is done. `save`
 * replaces an existing file or link as a whole; until then, and after `discard`, it is as before. Throws `CommandFailed`.
 */
export function prepareFile(label: string, file: string) {
  const attempt = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new CommandFailed(
        `${label} ${file} cannot be written (${code}). Use a file in a folder that exists and that you can write to.`,
      )
    }
  }
  // A device such as /dev/stdout has no draft beside it.
  const draft = attempt(() => (isStream(file) ? file : `${file}.${process.pid}.tmp`))
  const fd = attempt(() => (draft === file ? openSync(file, 'w') : openInPlace(draft)))
  const discard = () => {
    if (draft !== file) removeFile(draft)
  }
  return {
    save(text: string) {
      try {
        attempt(() => {
          writeFileSync(fd, text)
          closeSync(fd)
          if (draft !== file) renameSync(draft, file)
        })
      } catch (error) {
        discard()
        throw error
      }
    },
    discard,
  }
}
