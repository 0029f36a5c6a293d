// A socket's reader that is gone shows as either of the first two, a terminal's as the last.
const READER_GONE = ['EPIPE', 'ECONNRESET', 'EIO']

/** Whether what was written could not be, since nobody reads it any more. */
export const isReaderGone = (error: unknown): boolean =>
  READER_GONE.includes((error as NodeJS.ErrnoException).code ?? '')

/** Goes on where a reader of the output is gone: a server serves, and a command ends with the code of its work. */
export function outliveReaders({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>) {
  stdout.on('error', (error) => {
    if (!isReaderGone(error)) throw error
  })
  // Where the log itself can't be written there is no place to tell.
  stderr.on('error', () => {})
}
