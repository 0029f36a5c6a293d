// A list of any length.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export type Column<T> = {
  title: string
  /** Share of the width, as a grid takes it. */
  width: string
  /** Left out where there is little room; the four that stay are two lines of two where there is less. */
  minor?: boolean
  /** Numbers, which end below each other. */
  end?: boolean
  show: (row: T) => ComponentChildren
}

/** The width of an instant. */
export const AT_WIDTH = '12rem'

const ROW_HEIGHT = 40
// Rows drawn beyond those in sight, above and below.
const MARGIN = 8
// A taller element is cut off by browsers.
const MAX_ROWS = 400_000
// How far from its place a row is looked for; beyond that, the list's length says how far it went.
const REACH = 1_000

/** The state of a list that an entry of the browser's history stores: the scroll position and the opened row. */
type Place = { top: number; href: string }

/** How far the row that stood at `index` has moved. */
function shiftOf(
  seen: { key: string; index: number; total: number },
  total: number,
  keyAt: (index: number) => string | undefined,
): number {
  if (keyAt(seen.index) === seen.key) return 0
  for (let far = 1; far <= REACH; far++) {
    if (keyAt(seen.index + far) === seen.key) return far
    if (keyAt(seen.index - far) === seen.key) return -far
  }
  return Math.max(0, total - seen.total)
}

/**
 * A table of any length of which only the rows in sight are drawn. By roles: a table element lays out
 * all of its rows. The list calls `want` with the visible rows; `href` returns the URL of a row's details and identifies the row.
 *
 * New rows on top do not move the visible rows or the focus: a button announces them, unless the top is visible.
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
  const [news, setNews] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const seen = useRef<{ key: string; index: number; total: number }>()
  const back = useRef(history.state as Place | null)

  const keyAt = (index: number) => {
    const row = at(index)
    return row === undefined ? undefined : href(row)
  }
  const isHeld = () =>
    box.current !== null &&
    (box.current.scrollTop > 0 || box.current.querySelector('.body :focus') !== null)
  const shift = seen.current && isHeld() ? shiftOf(seen.current, total, keyAt) : 0
  const count = Math.min(total, MAX_ROWS)
  const first = Math.max(0, Math.min(from + shift, count - 1))
  const to = Math.min(count, first + Math.ceil(height / ROW_HEIGHT) + 2 * MARGIN)

  /** Takes note of the first row in sight. */
  function look() {
    const index = Math.floor(box.current!.scrollTop / ROW_HEIGHT)
    const key = keyAt(index)
    if (key !== undefined) seen.current = { key, index, total }
  }
  function place() {
    const { scrollTop } = box.current!
    setFrom(Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - MARGIN))
    if (scrollTop < ROW_HEIGHT) setNews(0)
    look()
  }

  /** Notes the place with this entry of the browser's history, for those who come back. */
  const leave = (href: string) =>
    history.replaceState({ top: box.current!.scrollTop, href } satisfies Place, '')

  useLayoutEffect(() => {
    const measure = () => setHeight(box.current!.clientHeight)
    const observer = new ResizeObserver(measure)
    observer.observe(box.current!)
    box.current!.scrollTop = back.current?.top ?? 0
    place()
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (shift !== 0) {
      box.current!.scrollTop += shift * ROW_HEIGHT
      if (shift > 0) setNews((n) => n + shift)
      place()
    } else look()
    const link = back.current && box.current!.querySelector(`a[href="${back.current.href}"]`)
    if (link) {
      back.current = null
      if (document.activeElement?.matches('body, main, h2'))
        (link as HTMLElement).focus({ preventScroll: true })
    }
  })
  useEffect(() => want?.(first, to), [first, to, want])
  const widths = (shown: readonly Column<T>[]) => shown.map(({ width }) => width).join(' ')
  const grid = {
    '--columns': widths(columns),
    '--few': widths(columns.filter(({ minor }) => !minor)),
  }
  const drawn = new Set<string>()

  return (
    <div class="framed">
      <div
        class="rows"
        role="table"
        aria-label={label}
        aria-rowcount={count + 1}
        ref={box}
        tabIndex={0}
        onScroll={place}
      >
        <div role="rowgroup" class="head">
          <div role="row" class="line" aria-rowindex={1} style={grid}>
            {columns.map(({ title, minor, end }) => (
              <span role="columnheader" key={title} class={classOf(minor, end)}>
                {title}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" class="body" style={{ height: `${count * ROW_HEIGHT}px` }}>
          {Array.from({ length: Math.max(0, to - first) }, (_, i) => {
            const index = first + i
            const row = at(index)
            const key = row === undefined ? undefined : href(row)
            // Two pages that were read at two moments may have a row in common.
            const isNew = key !== undefined && !drawn.has(key)
            if (isNew) drawn.add(key)
            return (
              <div
                role="row"
                class="line"
                key={isNew ? key : index}
                aria-rowindex={index + 2}
                style={{ ...grid, transform: `translateY(${index * ROW_HEIGHT}px)` }}
              >
                {columns.map(({ title, minor, end, show }, column) => (
                  <span role="cell" key={title} class={classOf(minor, end)}>
                    {row === undefined ? (
                      '…'
                    ) : column === 0 ? (
                      <a href={key} onClick={() => leave(key!)}>
                        {show(row)}
                      </a>
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
      {news > 0 && (
        <button
          type="button"
          class="news"
          onClick={() => {
            box.current!.scrollTop = 0
            box.current!.focus()
          }}
        >
          {news} new ↑
        </button>
      )}
    </div>
  )
}

const classOf = (minor = false, end = false) => `${minor ? 'minor ' : ''}${end ? 'end' : ''}`

/** The same rows where all of them are there already. */
export const listRows = <T,>(rows: readonly T[]) => ({
  total: rows.length,
  at: (index: number) => rows[index],
})
