import { SandboxError } from '../model/errors.ts'
import { errnoOf } from './files.ts'
import { LostOwnership } from './ownership.ts'

const RETRY_MS = 1_000

type Deps = {
  file: string | undefined
  log: { info(message: string): void; warn(message: string): void }
  /** Tries to write; throws where that fails. */
  probe: () => void
}

/** Tracks whether changes can be written; logs and returns the error if they cannot. */
export function createAvailability({ file, log, probe }: Deps) {
  let failure: string | undefined
  let retry: NodeJS.Timeout | undefined

  function written() {
    if (!failure) return
    log.info(`The data file ${file} can be written again.`)
    failure = undefined
    stop()
  }

  function stop() {
    clearInterval(retry)
    retry = undefined
  }

  function tryAgain() {
    try {
      probe()
      written()
    } catch (error) {
      // Still failing; the next try follows. If this process no longer owns the file, it stops trying.
      if (error instanceof LostOwnership) stop()
    }
  }

  return {
    /** The errno of the last failed write; `undefined` while writes succeed. */
    get failure() {
      return failure
    },
    /** Returns the error to respond with after a failed write. */
    failed(error: unknown): SandboxError {
      if (error instanceof LostOwnership) {
        stop()
        return new SandboxError('storage_unavailable', `${error.message} Nothing was changed.`)
      }
      const code = errnoOf(error)
      if (!failure)
        log.warn(
          `The data file ${file} cannot be written (${code}). The sandbox rejects all changes until it can write again.`,
        )
      failure = code
      retry ??= setInterval(tryAgain, RETRY_MS).unref()
      return new SandboxError(
        'storage_unavailable',
        `The data file cannot be written (${code}); nothing was changed. Free disk space or make the file writable, then try again.`,
        { headers: { 'retry-after': '1' } },
      )
    },
    written,
    stop,
  }
}
