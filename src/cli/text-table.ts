import { printableLine } from '../model/printable.ts'
import { coloured, styleOf } from './colour.ts'

/** A value on one line, without control characters; `-` for null and undefined. */
export const oneLine = (value: unknown): string =>
  value === null || value === undefined ? '-' : printableLine(String(value))

/** A text table with aligned columns, or `emptyText` if there are no rows. */
export function table(
  head: readonly string[],
  rows: readonly (readonly unknown[])[],
  emptyText: string,
): string {
  if (rows.length === 0) return `${emptyText}\n`
  const lines = [head, ...rows.map((row) => row.map(oneLine))]
  const widths = head.map((_, i) => lines.reduce((max, line) => Math.max(max, line[i]!.length), 0))
  return lines
    .map((line, lineIndex) => {
      const last = line.length - 1
      return `${line
        .map((cell, i) => {
          const style = lineIndex === 0 ? 'bold' : styleOf(cell, head[i]!)
          const space = i === last ? '' : ' '.repeat(widths[i]! - cell.length)
          return (style ? coloured(style, cell) : cell) + space
        })
        .join('  ')
        .trimEnd()}\n`
    })
    .join('')
}
