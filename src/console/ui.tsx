// The parts that every view is made of.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Call, make, textOf } from './api.ts'

/** A button that makes an admin call, with the call beside it; `confirm` says what would be lost. */
export function Act({
  label,
  call,
  confirm,
  onDone,
  disabled = false,
  quiet = false,
  name,
}: {
  label: string
  call: Call
  confirm?: string
  onDone?: (answer: never) => void
  disabled?: boolean
  /** The call is told only to those who point at the button or read it out, where there are many alike. */
  quiet?: boolean
  /** What it is about, for those who don't see the row. */
  name?: string
}) {
  const id = useId()
  const [isBusy, setBusy] = useState(false)
  const [isAsking, setAsking] = useState(false)

  async function run() {
    setAsking(false)
    setBusy(true)
    try {
      const answer = await make(call)
      onDone?.(answer as never)
    } catch {
      // The line of the last call tells.
    } finally {
      setBusy(false)
    }
  }

  return (
    <span class="act">
      <button
        type="button"
        class={confirm ? 'danger' : ''}
        disabled={disabled || isBusy}
        aria-describedby={id}
        aria-label={name === undefined ? undefined : `${label}: ${name}`}
        title={textOf(call)}
        onClick={() => (confirm ? setAsking(true) : void run())}
      >
        {label}
      </button>
      <code id={id} class={quiet ? 'call unseen' : 'call'}>
        {textOf(call)}
      </code>
      {isAsking && (
        <Dialog title={`${label}?`} onClose={() => setAsking(false)}>
          <p>{confirm}</p>
          <p>
            <code class="call">{textOf(call)}</code>
          </p>
          <div class="row end">
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
            <button type="button" class="danger" onClick={() => void run()}>
              {label}
            </button>
          </div>
        </Dialog>
      )}
    </span>
  )
}

/** A dialog over the page; Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

/** A labelled part of a view. */
export function Card({
  title,
  children,
  wide = false,
}: {
  title: string
  children: ComponentChildren
  wide?: boolean
}) {
  const id = useId()
  return (
    <section class={wide ? 'card wide' : 'card'} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

const MOODS: Readonly<Record<string, string>> = {
  success: 'good',
  delivered: 'good',
  active: 'good',
  live: 'good',
  failed: 'bad',
  lost: 'bad',
  cancelled: 'bad',
  dropped: 'bad',
  pending: 'open',
  processing: 'open',
  connecting: 'open',
}

/** One of several values, under a label; each is a value, or a value and how it is shown. */
export function Choice({
  label,
  value,
  values,
  onChange,
}: {
  label: string
  value: string
  values: readonly (string | readonly [string, string])[]
  onChange: (value: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {values.map((one) => {
          const [name, text] = typeof one === 'string' ? [one, one] : one
          return (
            <option key={name} value={name}>
              {text}
            </option>
          )
        })}
      </select>
    </div>
  )
}

/** A line of text under a label. */
export function Input({
  label,
  value,
  onInput,
  type = 'text',
  placeholder,
}: {
  label: string
  value: string
  onInput: (value: string) => void
  type?: 'text' | 'search' | 'password'
  placeholder?: string
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type={type}
        autocomplete="off"
        spellcheck={false}
        value={value}
        placeholder={placeholder}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </div>
  )
}

/** A part that may be wider than the screen: it scrolls by itself, by keys too. */
export const Scroll = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <section class="scroll" tabIndex={0} aria-label={label}>
    {children}
  </section>
)

/** The headings of a table. */
export const Heads = ({ titles }: { titles: readonly string[] }) => (
  <thead>
    <tr>
      {titles.map((title) => (
        <th scope="col" key={title}>
          {title}
        </th>
      ))}
    </tr>
  </thead>
)

/** A state as a coloured word. */
export const Chip = ({ state }: { state: string }) => (
  <span class={`chip ${MOODS[state.toLowerCase()] ?? ''}`}>{state}</span>
)

/** An HTTP status; none where the connection was broken. */
export const HttpStatus = ({ status }: { status: number | null }) => (
  <span
    class={`chip ${status === null || status >= 500 ? 'bad' : status >= 400 ? 'open' : 'good'}`}
  >
    {status ?? 'broken'}
  </span>
)

/** An instant on the client's clock. */
export const At = ({ at }: { at: string }) => (
  <time dateTime={at} title={at}>
    {at.slice(0, 10)} <b>{at.slice(11, 19)}</b>
  </time>
)

/** Pairs of a name and a value. */
export const Facts = ({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl>
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value ?? '–'}</dd>
      </div>
    ))}
  </dl>
)

/** A text, or JSON, as it is. */
export const Text = ({ value, label }: { value: unknown; label: string }) => (
  <pre tabIndex={0} role="group" aria-label={label}>
    {typeof value === 'string' ? pretty(value) : JSON.stringify(value, null, 2)}
  </pre>
)

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Puts a text on the clipboard. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => setCopied(false), [text])
  return (
    <button
      type="button"
      title={text}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      {isCopied ? 'Copied' : label}
    </button>
  )
}

/** What went wrong while something was read. */
export const Problem = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  )

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
