// The errors of a write whose reader is gone: the first two for pipes and sockets, the last one for a terminal.
const READER_GONE_CODES = ['EPIPE', 'ECONNRESET', 'EIO']

/** Whether a write failed because nobody reads the output any more. */
export const isReaderGone = (error: unknown): boolean =>
  READER_GONE_CODES.includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * Ignores write errors after the reader of the output is gone: a server continues to serve, and a command exits with the
 * code of its result.
 */
export function ignoreGoneReaders({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>) {
  stdout.on('error', (error) => {
    if (!isReaderGone(error)) throw error
  })
  // An error of the log itself cannot be logged.
  stderr.on('error', () => {})
}
