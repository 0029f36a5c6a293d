import { closeSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { CommandFailed } from './command.ts'

/**
 * Prepares to save a text in a file, so that a file that cannot be written is known before the work for it is done. `save`
 * replaces an existing file as a whole; until then, and after `discard`, it is as before. Throws `CommandFailed`.
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
  const found = attempt(() => statSync(file, { throwIfNoEntry: false }))
  // A device such as /dev/stdout has no draft beside it.
  const draft = found && !found.isFile() ? undefined : `${file}.${process.pid}.tmp`
  const discard = () => draft !== undefined && rmSync(draft, { force: true })
  const fd = attempt(() => openSync(draft ?? file, 'w'))
  return {
    save(text: string) {
      try {
        attempt(() => {
          writeFileSync(fd, text)
          closeSync(fd)
          if (draft !== undefined) renameSync(draft, file)
        })
      } catch (error) {
        discard()
        throw error
      }
    },
    discard,
  }
}
