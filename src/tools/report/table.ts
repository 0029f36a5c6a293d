import { printableLine } from '../../model/words.ts'

/** A value on one line, without control characters; `-` for null and undefined. */
export const oneLine = (value: unknown): string =>
  value === null || value === undefined ? '-' : printableLine(String(value))

export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => rows.reduce((max, row) => Math.max(max, row[i]!.length), 0))
  const lines = rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i]!)).join('  '))
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

export const table = (
  head: readonly string[],
  rows: readonly (readonly unknown[])[],
  emptyText: string,
): string =>
  rows.length === 0 ? `${emptyText}\n` : aligned([head, ...rows.map((row) => row.map(oneLine))])
