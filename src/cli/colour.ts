import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Whether to colour the output of a stream: only on a terminal; `NO_COLOR` disables it, `FORCE_COLOR` enables it anywhere. */
export function supportsColour(
  stream: { isTTY?: boolean },
  { NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv,
): boolean {
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0'
  return stream.isTTY === true && TERM !== 'dumb'
}

/** Colours a text if standard output supports colours. */
export const coloured = (style: Style, text: string): string =>
  supportsColour(process.stdout, process.env) ? styleText(style, text, ...NO_STREAM_CHECK) : text

// Newer versions of Node also check the stream; `supportsColour` has already done it.
const NO_STREAM_CHECK = [{ validateStream: false }] as unknown as []

const STATUS_STYLES: Readonly<Record<string, Style>> = {
  success: 'green',
  delivered: 'green',
  met: 'green',
  pending: 'yellow',
  failed: 'red',
  'not met': 'red',
  broken: 'red',
  dropped: 'red',
  cancelled: 'red',
  error: 'red',
  warning: 'yellow',
}

/** The style of a table cell: by its status word, or red for the HTTP status of an error. */
export function styleOf(cell: string, column: string): Style | undefined {
  if (column === 'status' && /^[45]\d\d$/.test(cell)) return 'red'
  return Object.hasOwn(STATUS_STYLES, cell.toLowerCase())
    ? STATUS_STYLES[cell.toLowerCase()]
    : undefined
}
