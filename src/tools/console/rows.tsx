// A list in pages, whose rows open beside it.
import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { callOf } from './api.ts'
import { Choice, SearchField, useSearch } from './fields.tsx'
import { focusNext } from './focus.ts'
import { countText, spanText } from './format.ts'
import { setUrlFields, useUrlFields, useWide } from './route.ts'
import { At } from './settings.tsx'
import { Button, Loading, noneText, Problem } from './ui.tsx'
import { useLoaded, useStill } from './use-data.ts'

export type Column<T> = {
  title: string
  width: string
  /** Hidden on a narrow screen, where the other four columns are two lines of two. */
  minor?: boolean
  /** Aligned to the end, for numbers. */
  end?: boolean
  show: (row: T) => ComponentChildren
}

export const AT_WIDTH = 'clamp(12rem, 22cqw, 13.5rem)'

const PAGE = 50

/** What an entry of the browser's history stores of a list: the page and the row that was opened. */
type Position = { page: number; href: string }

/** One page of a list; `list` says which one, with its filters. */
type Page<T> = { list: string; page: number; rows: readonly T[]; total: number }

/** The number of the page, and its setter. Another list starts at its first page; the way back from a row leads to its page. */
function usePage(list: string): [page: number, setPage: (page: number) => void] {
  const [chosen, choose] = useState(() => ({
    list,
    page: (history.state as Position | null)?.page ?? 1,
  }))
  return [chosen.list === list ? chosen.page : 1, (page) => choose({ list, page })]
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

type PagerProps = { page: number; total: number; setPage: (page: number) => void }

function Pager({ page, total, setPage }: PagerProps) {
  const last = Math.ceil(total / PAGE)
  return (
    <>
      <Button label="Previous" isOff={page <= 1} onPress={() => setPage(page - 1)} />
      <span>
        Page {page} of {last}
      </span>
      <Button label="Next" isOff={page >= last} onPress={() => setPage(page + 1)} />
    </>
  )
}

type Shown<T> = {
  label: string
  columns: readonly Column<T>[]
  /** The URL of a row's details, which identifies the row. */
  href: (row: T) => string
}

type RowsProps<T> = Shown<T> & {
  of: Page<T>
  setPage: (page: number) => void
  count: string
  empty: string
}

function showWhole({ target }: MouseEvent) {
  const cell = (target as Element).closest<HTMLElement>('.line > span')
  if (cell) cell.title = cell.scrollWidth > cell.clientWidth ? cell.innerText : ''
}

/** A page of a list as a table of grids. While it has the pointer or the focus, no row moves: a button announces new ones. */
function Rows<T>({ label, columns, of, setPage, href, count, empty }: RowsProps<T>) {
  const { list, page, rows, total } = of
  const isWide = useWide()
  const still = useStill<readonly T[], HTMLDivElement>(rows, `${list} ${page}`)
  const { value: held, props, release } = still
  const box = props.ref
  // Beside an open row, the list keeps its search.
  const [route, fields] = location.hash.split('?')
  const search = isWide && fields ? `?${fields}` : ''
  const fresh = new Map(rows.map((row) => [href(row), row]))
  const known = new Set(held.map(href))
  const newCount = page === 1 ? rows.filter((row) => !known.has(href(row))).length : 0

  /** The first cell of a row, which links to its details. Tab stops at one row only: arrow keys reach the others. */
  function linkOf(row: T, i: number) {
    const key = href(row)
    const isOpen = key === route
    return (
      <a
        href={key + search}
        onClick={() => history.replaceState({ page, href: key } satisfies Position, '')}
        aria-current={isOpen || undefined}
        tabIndex={isOpen || i === 0 ? 0 : -1}
      >
        {columns[0]!.show(fresh.get(key) ?? row)}
      </a>
    )
  }

  useEffect(() => {
    // A reset can leave fewer pages.
    if (page > 1 && rows.length === 0) setPage(1)
  }, [page, rows.length])
  // The way back from a row leads to it.
  const opened = useRef((history.state as Position | null)?.href)
  useLayoutEffect(() => {
    const link = box.current!.querySelector<HTMLElement>(`a[href="${opened.current}"]`)
    if (!link) return
    opened.current = undefined
    link.scrollIntoView({ block: 'center' })
    if (document.activeElement?.matches('body, main, h2')) link.focus({ preventScroll: true })
  })
  return (
    <>
      <div class="bar">
        <p class="hint" aria-live="polite">
          {count}
        </p>
        {total > PAGE && <Pager page={page} total={total} setPage={setPage} />}
      </div>
      <div class="framed" {...props}>
        <div
          // A new page starts at its top.
          key={page}
          class="card rows"
          role="table"
          aria-label={label}
          aria-rowcount={total + 1}
          style={{ '--columns': columns.map(({ width }) => width).join(' ') }}
          tabIndex={0}
          onPointerOver={showWhole}
          onKeyDown={(event) => moveFocus(box.current!, event, isWide)}
        >
          <div role="rowgroup" class="head">
            <div role="row" class="line" aria-rowindex={1}>
              {columns.map(({ title, minor, end }) => (
                <span role="columnheader" key={title} class={classOf(minor, end)}>
                  {title}
                </span>
              ))}
            </div>
          </div>
          <div role="rowgroup" class="body">
            {held.map((row, i) => (
              <div
                role="row"
                class="line"
                aria-rowindex={(page - 1) * PAGE + i + 2}
                // By position: a new row on top changes the text of the others, but moves none of them.
                key={i}
              >
                {columns.map(({ title, minor, end, show }, column) => (
                  <span role="cell" key={title} class={classOf(minor, end)}>
                    {column === 0 ? linkOf(row, i) : show(fresh.get(href(row)) ?? row)}
                  </span>
                ))}
              </div>
            ))}
          </div>
          {total === 0 && <p class="empty">{empty}</p>}
        </div>
        {newCount > 0 && (
          <button
            type="button"
            class="news"
            onClick={() => {
              release()
              const table = box.current!.querySelector('div')!
              table.scrollTop = 0
              table.focus()
            }}
          >
            {newCount === PAGE ? `${PAGE} or more` : newCount} new ↑
          </button>
        )}
      </div>
    </>
  )
}

const classOf = (minor = false, end = false) => `${minor ? 'minor ' : ''}${end ? 'end' : ''}`

type ListedProps<T> = Omit<RowsProps<T>, 'of'> & {
  of?: Page<T> | undefined
  problem?: string | undefined
}

/** Rows, or what there is before their first response. */
const Listed = <T,>({ of, problem, ...shown }: ListedProps<T>) => (
  <>
    <Problem text={problem} />
    {!of && problem === undefined && <Loading />}
    {of && <Rows {...shown} of={of} />}
  </>
)

type ListRowsProps<T> = { list: string; all: readonly T[] | undefined } & Omit<
  ListedProps<T>,
  'of' | 'setPage'
>

/** A list that is completely loaded, in pages; `list` says how it is filtered. */
export function ListRows<T>({ list, all, ...shown }: ListRowsProps<T>) {
  const [page, setPage] = usePage(list)
  const rows = all?.slice((page - 1) * PAGE, page * PAGE)
  const of = rows && { list, page, rows, total: all!.length }
  return <Listed {...shown} of={of} setPage={setPage} />
}

const isInstant = (at: string) => !Number.isNaN(Date.parse(at)) && new Date(at).toISOString() === at

/** What links of the overview and of a jump ask of a list: a time, or how long payments took; each with what removes it. */
function useSpans() {
  const fields = useUrlFields()
  const [since = '', until = '', took = ''] = ['since', 'until', 'took'].map(
    (name) => fields.get(name) ?? undefined,
  )
  const [least = 0, most = 0] = took.split('-').map(Number)
  const isThen = isInstant(since) && isInstant(until)
  return {
    span: { ...(isThen && { since, until }), ...(took !== '' && { took }) },
    buttons: (
      <>
        {isThen && (
          <button type="button" onClick={() => setUrlFields({ since: '', until: '' })}>
            <At at={since} /> to <At at={until} /> ✕
          </button>
        )}
        {took !== '' && (
          <button type="button" onClick={() => setUrlFields({ took: '' })}>
            {fields.get('outcome') === 'in_flight' ? 'settles in' : 'took'} {spanText(least)}{' '}
            {most > 0 ? `to ${spanText(most)}` : 'or more'} ✕
          </button>
        )}
      </>
    ),
  }
}

/** A filter of a list: its label, its values, each with its text if that differs, and what it says for all rows. */
export type Filter = Pick<Parameters<typeof Choice>[0], 'label' | 'values'> & { all?: string }

/** The selects of some filters, and the chosen values, which are in the URL; empty for all rows. */
export function useFilters(filters: Readonly<Record<string, Filter>>) {
  const fields = useUrlFields()
  const chosen: Record<string, string> = {}
  const choices = Object.entries(filters).map(([name, { label, values, all = 'any' }]) => {
    const value = fields.get(name) ?? ''
    chosen[name] = values.some((one) => [one].flat()[0] === value) ? value : ''
    return (
      <Choice
        key={name}
        label={label}
        value={chosen[name]}
        values={[['', all], ...values]}
        onInput={(next) => setUrlFields({ [name]: next })}
      />
    )
  })
  return { chosen, choices }
}

/** The calls that return a list in pages; the only array of each response has the rows. */
type ListId = 'readUsers' | 'readTransactions' | 'listDeliveries'

type PagedListProps<T> = Shown<T> & {
  id: ListId
  filters: Readonly<Record<string, Filter>>
  placeholder: string
  noun: string
  /** What a list without rows says that nothing filters. */
  none: string
  /** What can be done to all rows of a filter. */
  bulk?: FunctionComponent<{ query: object; total: number }>
}

export function PagedList<T>(props: PagedListProps<T>) {
  const { id, filters, placeholder, noun, none, bulk: Bulk, ...shown } = props
  const search = useSearch()
  const { chosen, choices } = useFilters(filters)
  const { span, buttons } = useSpans()
  const all = { ...chosen, ...(id !== 'readUsers' && span) }
  const filter = Object.entries(all).filter(([, value]) => value !== '')
  const query = { search: search.query, ...Object.fromEntries(filter) }
  const list = JSON.stringify(query)
  const [page, setPage] = usePage(list)
  const call = callOf<ListId>(id, { query: { ...query, page, limit: PAGE } })
  const { data, problem } = useLoaded(call)
  // Until the next page has arrived, the last one stays.
  const last = useRef<Page<T>>()
  if (data) {
    const rows = Object.values<unknown>(data).find(Array.isArray) ?? []
    last.current = { list, page, rows, total: data.total }
  }
  const isAll = search.text === '' && filter.every(([name]) => name === 'sort')
  return (
    <>
      <div class="row">
        <SearchField search={search} placeholder={placeholder} />
        {choices}
        {buttons}
        {Bulk && !isAll && data && data.total > 0 && <Bulk query={query} total={data.total} />}
      </div>
      <Listed
        {...shown}
        problem={problem}
        of={last.current}
        setPage={setPage}
        count={countText(last.current?.total ?? 0, noun)}
        empty={isAll ? none : noneText(noun, search.text)}
      />
    </>
  )
}
