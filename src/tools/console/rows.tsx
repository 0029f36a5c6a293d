// A list of any length that renders only its visible rows.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Search } from './fields.tsx'
import { focusNext } from './focus.ts'
import { countText } from './format.ts'
import type { Kind } from './live.ts'
import { useWide } from './route.ts'
import { Loading, noneText, Problem } from './ui.tsx'
import { type ListId, usePages } from './use-data.ts'

export type Column<T> = {
  title: string
  /** The width, as a CSS grid track. */
  width: string
  /** Hidden on a narrow screen. On a very narrow one, the other four columns are two lines of two. */
  minor?: boolean
  /** Aligned to the end, for numbers. */
  end?: boolean
  show: (row: T) => ComponentChildren
}

/** The width of an instant with its zone. */
export const AT_WIDTH = '13.5rem'

const ROW_HEIGHT = 40
// Rows rendered above and below the visible ones.
const EXTRA_ROWS = 8
// Browsers limit the height of an element.
const MAX_ROWS = 400_000
// A moved row is searched up to this distance; beyond it, the new length of the list gives the distance.
const MAX_SHIFT = 1_000

/** The state of a list that an entry of the browser's history stores: the scroll position and the opened row. */
type Position = { top: number; href: string }

/** Returns how many rows down the row at `index` has moved. */
function shiftOf(
  old: { key: string; index: number; total: number },
  total: number,
  keyAt: (index: number) => string | undefined,
): number {
  if (keyAt(old.index) === old.key) return 0
  for (let distance = 1; distance <= MAX_SHIFT; distance++) {
    if (keyAt(old.index + distance) === old.key) return distance
    if (keyAt(old.index - distance) === old.key) return -distance
  }
  return Math.max(0, total - old.total)
}

/** Moves the focus to the row above or below; beside an open row, opens it. */
function moveFocus(box: HTMLElement, event: KeyboardEvent, isWide: boolean) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  const next = focusNext(box, '.body a', step) as HTMLAnchorElement | undefined
  if (!next) return
  event.preventDefault()
  if (isWide && box.querySelector('[aria-current]')) location.replace(next.href)
}

/**
 * A table of any length that renders only its visible rows. It uses ARIA roles, because a table element lays out all of
 * its rows. The list calls `want` with the visible rows; `href` returns the URL of a row's details and identifies the row.
 *
 * New rows on top move nothing while the list is scrolled, or has the pointer or the focus: a button announces them.
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
  const [newCount, setNewCount] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const firstVisible = useRef<{ key: string; index: number; total: number }>()
  const restored = useRef(history.state as Position | null)
  const isWide = useWide()
  // Beside an open row, the list keeps its search.
  const [route, fields] = location.hash.split('?')
  const search = isWide && fields ? `?${fields}` : ''

  const keyAt = (index: number) => {
    const row = at(index)
    return row === undefined ? undefined : href(row)
  }
  const mustNotMove = () =>
    box.current !== null &&
    (box.current.scrollTop > 0 || box.current.querySelector('.body :is(:focus, :hover)') !== null)
  const shift =
    firstVisible.current && mustNotMove() ? shiftOf(firstVisible.current, total, keyAt) : 0
  const count = Math.min(total, MAX_ROWS)
  const first = Math.max(0, Math.min(from + shift, count - 1))
  const to = Math.min(count, first + Math.ceil(height / ROW_HEIGHT) + 2 * EXTRA_ROWS)

  /** Stores which row is the first visible one. */
  function noteFirstVisible() {
    const index = Math.floor(box.current!.scrollTop / ROW_HEIGHT)
    const key = keyAt(index)
    if (key !== undefined) firstVisible.current = { key, index, total }
  }
  function onScroll() {
    const { scrollTop } = box.current!
    setFrom(Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - EXTRA_ROWS))
    if (scrollTop < ROW_HEIGHT) setNewCount(0)
    noteFirstVisible()
  }

  /** Stores the position in this entry of the browser's history, for the way back. */
  const storePosition = (href: string) =>
    history.replaceState({ top: box.current!.scrollTop, href } satisfies Position, '')

  useLayoutEffect(() => {
    const measure = () => setHeight(box.current!.clientHeight)
    const observer = new ResizeObserver(measure)
    observer.observe(box.current!)
    box.current!.scrollTop = restored.current?.top ?? 0
    onScroll()
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (shift !== 0) {
      box.current!.scrollTop += shift * ROW_HEIGHT
      if (shift > 0) setNewCount((n) => n + shift)
      onScroll()
    } else noteFirstVisible()
    const link =
      restored.current && box.current!.querySelector(`a[href="${restored.current.href}"]`)
    if (link) {
      restored.current = null
      if (document.activeElement?.matches('body, main, h2'))
        (link as HTMLElement).focus({ preventScroll: true })
    }
  })
  useEffect(() => want?.(first, to), [first, to, want])
  const grid = gridOf(columns)
  const rendered = new Set<string>()

  return (
    <div class="framed">
      <div
        class="rows"
        role="table"
        aria-label={label}
        aria-rowcount={count + 1}
        ref={box}
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={(event) => moveFocus(box.current!, event, isWide)}
      >
        <div role="rowgroup" class="head">
          <HeadLine columns={columns} grid={grid} />
        </div>
        <div role="rowgroup" class="body" style={{ height: `${count * ROW_HEIGHT}px` }}>
          {Array.from({ length: Math.max(0, to - first) }, (_, i) => {
            const index = first + i
            const row = at(index)
            const key = row === undefined ? undefined : href(row)
            // Two pages that were read at different times can contain the same row.
            const isNew = key !== undefined && !rendered.has(key)
            if (isNew) rendered.add(key)
            return (
              <RowLine
                key={isNew ? key : index}
                columns={columns}
                row={row}
                index={index}
                grid={grid}
                href={key && key + search}
                isOpen={key === route}
                isStop={key === route || index === (firstVisible.current?.index ?? 0)}
                onOpen={() => storePosition(key!)}
              />
            )
          })}
        </div>
        {total === 0 && <p class="empty">{empty}</p>}
      </div>
      {newCount > 0 && (
        <button
          type="button"
          class="news"
          onClick={() => {
            box.current!.scrollTop = 0
            box.current!.focus()
          }}
        >
          {newCount} new ↑
        </button>
      )}
    </div>
  )
}

const classOf = (minor = false, end = false) => `${minor ? 'minor ' : ''}${end ? 'end' : ''}`

/** The grid tracks of all columns, and of the columns of a narrow screen. */
type Grid = { '--columns': string; '--few': string }

const widthsOf = <T,>(columns: readonly Column<T>[]) => columns.map(({ width }) => width).join(' ')
const gridOf = <T,>(columns: readonly Column<T>[]): Grid => ({
  '--columns': widthsOf(columns),
  '--few': widthsOf(columns.filter(({ minor }) => !minor)),
})

/** The titles of the columns. */
function HeadLine<T>({ columns, grid }: { columns: readonly Column<T>[]; grid: Grid }) {
  return (
    <div role="row" class="line" aria-rowindex={1} style={grid}>
      {columns.map(({ title, minor, end }) => (
        <span role="columnheader" key={title} class={classOf(minor, end)}>
          {title}
        </span>
      ))}
    </div>
  )
}

/** One row at its place in the list; `…` in each cell until it is loaded. The first cell links to its details. */
function RowLine<T>({
  columns,
  row,
  index,
  grid,
  href,
  isOpen,
  isStop,
  onOpen,
}: {
  columns: readonly Column<T>[]
  row: T | undefined
  index: number
  grid: Grid
  href: string | undefined
  isOpen: boolean
  /** Whether Tab stops at it. It skips the other rows of a long list, which arrow keys reach. */
  isStop: boolean
  onOpen: () => void
}) {
  return (
    <div
      role="row"
      class="line"
      aria-rowindex={index + 2}
      style={{ ...grid, transform: `translateY(${index * ROW_HEIGHT}px)` }}
    >
      {columns.map(({ title, minor, end, show }, column) => (
        <span role="cell" key={title} class={classOf(minor, end)}>
          {row === undefined ? (
            '…'
          ) : column === 0 ? (
            <a
              href={href}
              onClick={onOpen}
              aria-current={isOpen || undefined}
              tabIndex={isStop ? 0 : -1}
            >
              {show(row)}
            </a>
          ) : (
            show(row)
          )}
        </span>
      ))}
    </div>
  )
}

/** The properties of `Rows` for a list that is completely loaded. */
export const listRows = <T,>(rows: readonly T[]) => ({
  total: rows.length,
  at: (index: number) => rows[index],
})

/** A list that is read in pages, with its length; `filter` and the search choose its rows. */
export function PagedRows<T>({
  id,
  filter,
  search,
  kinds,
  noun,
  none,
  ...shown
}: {
  id: ListId
  filter: Readonly<Record<string, string>>
  search: Search
  kinds: readonly Kind[]
  noun: string
  /** What a list without rows says that nothing filters. */
  none: string
} & Pick<Parameters<typeof Rows<T>>[0], 'label' | 'columns' | 'href'>) {
  const chosen = Object.entries(filter).filter(([, value]) => value !== '')
  const query = { search: search.query, ...Object.fromEntries(chosen) }
  const { total, problem, ...rows } = usePages<T>(id, query, kinds)
  const isAll = search.text === '' && chosen.every(([name]) => name === 'sort')
  return (
    <>
      <Problem text={problem} />
      {total === undefined && problem === undefined && <Loading />}
      {total !== undefined && (
        <>
          <p class="hint" aria-live="polite">
            {countText(total, noun)}
          </p>
          <Rows
            {...shown}
            {...rows}
            total={total}
            empty={isAll ? none : noneText(noun, search.text)}
          />
        </>
      )}
    </>
  )
}
