// A list of any length.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export type Column<T> = {
  title: string
  /** Share of the width, as a grid takes it. */
  width: string
  /** Left out where there is little room. */
  minor?: boolean
  show: (row: T) => ComponentChildren
}

const ROW_HEIGHT = 40
// Rows drawn beyond those in sight, above and below.
const MARGIN = 8
// A taller element is cut off by browsers.
const MOST_ROWS = 400_000

/**
 * A table of any length of which only the rows in sight are drawn. By roles: a table element lays out
 * all of its rows. `want` is told which are in sight, `href` tells where a row's details are.
 */
export function Rows<T>({
  label,
  columns,
  total,
  at,
  want,
  href,
  empty,
}: {
  label: string
  columns: readonly Column<T>[]
  total: number
  at: (index: number) => T | undefined
  want?: (from: number, to: number) => void
  href: (row: T) => string
  empty: string
}) {
  const [from, setFrom] = useState(0)
  const [height, setHeight] = useState(600)
  const box = useRef<HTMLDivElement>(null)
  const count = Math.min(total, MOST_ROWS)
  const to = Math.min(count, from + Math.ceil(height / ROW_HEIGHT) + 2 * MARGIN)
  useLayoutEffect(() => {
    const measure = () => setHeight(box.current!.clientHeight)
    const observer = new ResizeObserver(measure)
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  useEffect(() => want?.(from, to), [from, to, want])
  const grid = { '--columns': columns.map(({ width }) => width).join(' ') }

  return (
    <div
      class="rows"
      role="table"
      aria-label={label}
      aria-rowcount={count + 1}
      ref={box}
      tabIndex={0}
      onScroll={({ currentTarget }) =>
        setFrom(Math.max(0, Math.floor(currentTarget.scrollTop / ROW_HEIGHT) - MARGIN))
      }
    >
      <div role="rowgroup" class="head">
        <div role="row" class="line" aria-rowindex={1} style={grid}>
          {columns.map(({ title, minor }) => (
            <span role="columnheader" key={title} class={minor ? 'minor' : ''}>
              {title}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="body" style={{ height: `${count * ROW_HEIGHT}px` }}>
        {Array.from({ length: Math.max(0, to - from) }, (_, i) => {
          const index = from + i
          const row = at(index)
          return (
            <div
              role="row"
              class="line"
              key={index}
              aria-rowindex={index + 2}
              style={{ ...grid, transform: `translateY(${index * ROW_HEIGHT}px)` }}
            >
              {columns.map(({ title, minor, show }, column) => (
                <span role="cell" key={title} class={minor ? 'minor' : ''}>
                  {row === undefined ? (
                    '…'
                  ) : column === 0 ? (
                    <a href={href(row)}>{show(row)}</a>
                  ) : (
                    show(row)
                  )}
                </span>
              ))}
            </div>
          )
        })}
      </div>
      {total === 0 && <p class="empty">{empty}</p>}
    </div>
  )
}

/** The same rows where all of them are there already. */
export const listRows = <T,>(rows: readonly T[]) => ({
  total: rows.length,
  at: (index: number) => rows[index],
})
