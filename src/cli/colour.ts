import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Whether a stream takes colours: a terminal that has them, unless `NO_COLOR` is set; `FORCE_COLOR` wants them anywhere. */
export function takesColour(
  stream: { isTTY?: boolean },
  { NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv,
): boolean {
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0'
  return stream.isTTY === true && TERM !== 'dumb'
}

/** Text as standard output shows it: coloured where it takes colours. */
export const coloured = (style: Style, text: string): string =>
  takesColour(process.stdout, process.env) ? styleText(style, text, ...UNCHECKED) : text

// Newer versions of Node ask a stream too; whether it takes colours is known already.
const UNCHECKED = [{ validateStream: false }] as unknown as []

const OF_STATUS: Readonly<Record<string, Style>> = {
  success: 'green',
  delivered: 'green',
  met: 'green',
  pending: 'yellow',
  failed: 'red',
  'not met': 'red',
  broken: 'red',
  dropped: 'red',
  cancelled: 'red',
}

/** The colour of a cell: a status of the service or of a delivery, or an HTTP status that is an error. */
export function styleOf(cell: string, column: string): Style | undefined {
  if (column === 'status' && /^[45]\d\d$/.test(cell)) return 'red'
  return Object.hasOwn(OF_STATUS, cell.toLowerCase()) ? OF_STATUS[cell.toLowerCase()] : undefined
}
