import { printableLine } from '../core/printable.ts'
import { coloured, styleOf } from './colour.ts'

/** A value on one line, with nothing in it that a terminal would act on; `-` for none. */
export const oneLine = (value: unknown): string =>
  value === null || value === undefined ? '-' : printableLine(String(value))

/** A table for people: a head, and a line for each row; nothing but `none` where there is no row. */
export function table(
  head: readonly string[],
  rows: readonly (readonly unknown[])[],
  none: string,
): string {
  if (rows.length === 0) return `${none}\n`
  const lines = [head, ...rows.map((row) => row.map(oneLine))]
  const widths = head.map((_, i) =>
    lines.reduce((most, line) => Math.max(most, line[i]!.length), 0),
  )
  return lines
    .map((line, nth) => {
      const last = line.length - 1
      return `${line
        .map((cell, i) => {
          const style = nth === 0 ? 'bold' : styleOf(cell, head[i]!)
          const space = i === last ? '' : ' '.repeat(widths[i]! - cell.length)
          return (style ? coloured(style, cell) : cell) + space
        })
        .join('  ')
        .trimEnd()}\n`
    })
    .join('')
}
