// Parts that the views share.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Payment } from './api.ts'
import { numberText, rupeesText } from './format.ts'

type CardProps = {
  title: string
  children: ComponentChildren
  wide?: boolean
  /** What stands in the line of the title. */
  beside?: ComponentChildren
}

export function Card({ title, children, wide = false, beside }: CardProps) {
  const id = useId()
  return (
    <section class={wide ? 'card wide' : 'card'} aria-labelledby={id}>
      <div class="bar apart">
        <h2 id={id}>{title}</h2>
        {beside}
      </div>
      {children}
    </section>
  )
}

const STATES = {
  good: ['success', 'delivered', 'active', 'live'],
  bad: ['failed', 'lost', 'locked', 'error', 'deleted', 'cancelled', 'dropped'],
  open: ['pending', 'warning', 'processing', 'connecting'],
  came: ['came back'],
}

export const stateClass = (state: string): string =>
  Object.entries(STATES).find(([, all]) => all.includes(state.toLowerCase()))?.[0] ?? ''

/** A part that may be wider than the screen: it scrolls separately, with the keyboard too. */
export const Scroll = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <section class="scroll" tabIndex={0} aria-label={label}>
    {children}
  </section>
)

type HeadsProps = { titles: readonly string[]; first?: readonly ComponentChildren[] | undefined }

// Amounts are aligned to the right.
const amountClass = (cell: ComponentChildren) =>
  typeof cell === 'string' && cell.startsWith('₹') ? 'end' : undefined

/** The head of a table; `first`, its first row, says which columns are amounts. */
export const Heads = ({ titles, first = [] }: HeadsProps) => (
  <thead>
    <tr>
      {titles.map((title, i) => (
        <th scope="col" key={title} class={amountClass(first[i])}>
          {title}
        </th>
      ))}
    </tr>
  </thead>
)

export const List = ({ items }: { items: readonly ComponentChildren[] }) => (
  <ul>
    {items.map((item, i) => (
      <li key={i}>{item}</li>
    ))}
  </ul>
)

type TableProps = {
  label: string
  titles: readonly string[]
  class?: string
  /** The cells of each row. Without them, its children are rows. */
  rows?: readonly (readonly ComponentChildren[])[]
  children?: ComponentChildren
}
/** A table that scrolls by itself. */
export const Table = ({ label, titles, rows, children, ...more }: TableProps) => (
  <Scroll label={label}>
    <table {...more}>
      <Heads titles={titles} first={rows?.[0]} />
      <tbody>{rows ? rows.map((cells, i) => <Cells key={i} of={cells} />) : children}</tbody>
    </table>
  </Scroll>
)

const Cells = ({ of }: { of: readonly ComponentChildren[] }) => (
  <tr>
    {of.map((cell, i) => (
      <td key={i} class={amountClass(cell)}>
        {cell}
      </td>
    ))}
  </tr>
)

/** The state of a payment: what came back has a word of its own. */
export const stateOf = ({ outcome, history }: Payment): string =>
  outcome === 'came_back' ? 'came back' : history.status

type ButtonProps = { label: string; isOff?: boolean; onPress: () => void }

/** A button that can be off. It then has aria-disabled: an element with the attribute `disabled` loses the focus. */
export const Button = ({ label, isOff = false, onPress }: ButtonProps) => (
  <button
    type="button"
    aria-disabled={isOff || undefined}
    onClick={isOff ? undefined : () => onPress()}
  >
    {label}
  </button>
)

export const Chip = ({ state }: { state: string }) => (
  <span class={`chip ${stateClass(state)}`}>{state}</span>
)

type HttpStatusProps = { status: number | null; fault?: string | null }

/** An HTTP status; none where the connection was broken, or a fault lets the caller wait. */
export const HttpStatus = ({ status, fault = null }: HttpStatusProps) => (
  <span
    class={`chip ${status === null || status >= 500 ? 'bad' : status >= 400 ? 'open' : 'good'}`}
  >
    {status ?? (fault === 'hang' ? 'no response' : 'broken')}
  </span>
)

type Paid = { amount: string | null; reference_id: string | null }

/** The amount and the reference of the payment that a call or a delivery is about. */
export const paymentText = ({ amount, reference_id }: Paid): string =>
  [amount && rupeesText(amount), reference_id].filter(Boolean).join(', ') || '–'

export const Facts = ({ facts }: { facts: Readonly<Record<string, ComponentChildren>> }) => (
  <dl>
    {Object.entries(facts).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{typeof value === 'number' ? numberText(value) : (value ?? '–')}</dd>
      </div>
    ))}
  </dl>
)

/** A button that copies a string to the clipboard. If the browser does not allow it, shows the text to copy by hand. */
export function Copy({ text, label, name }: { text: string; label: string; name?: string }) {
  const [isCopied, setCopied] = useState<boolean>()
  useEffect(() => setCopied(undefined), [text])
  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      // A page loaded over plain HTTP from another machine has no clipboard.
      setCopied(false)
    }
  }
  return (
    <span class="copy">
      <button
        type="button"
        title={text}
        aria-label={name && `${isCopied ? 'Copied' : label}: ${name}`}
        onClick={() => void copy()}
      >
        {isCopied ? 'Copied' : label}
      </button>
      {isCopied === false && (
        <label>
          The browser did not copy the text. Copy it from here:{' '}
          <textarea readOnly value={text} onFocus={({ currentTarget }) => currentTarget.select()} />
        </label>
      )}
    </span>
  )
}

/** An id with a button that copies it, and perhaps what it leads to. */
export const Id = ({ id, href }: { id: string; href?: string | undefined }) => (
  <span class="bar">
    {href === undefined ? <code>{id}</code> : <a href={href}>{id}</a>}
    <Copy label="Copy" name={id} text={id} />
  </span>
)

const textOf = (value: unknown) =>
  typeof value === 'string' ? pretty(value) : JSON.stringify(value, null, 2)

type TextProps = { value: unknown; label: string; none?: string | undefined }

export const Text = ({ value, label, none = 'No body' }: TextProps) =>
  value === null ? (
    <p class="empty">{none}</p>
  ) : (
    <pre tabIndex={0} role="group" aria-label={label}>
      {textOf(value)}
    </pre>
  )

type BodyCardProps = Partial<CardProps> & Pick<TextProps, 'value' | 'none'> & { title: string }

/** A body with a copy button, which copies a string unchanged and JSON as shown. */
export function BodyCard({ title, value, none, children, ...more }: BodyCardProps) {
  const text = typeof value === 'string' ? value : textOf(value)
  const copy = value !== null && <Copy label="Copy" name={title} text={text} />
  return (
    <Card title={title} beside={copy} {...more}>
      {children}
      <Text label={title} value={value} none={none} />
    </Card>
  )
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

// A code in backticks, or a link to a page of the docs.
const MARKUP = /`([^`]*)`|\[([^\]]*)\]\([^)]*\)/

/** A string of the docs as one paragraph: codes are shown as such, and a link only as its text. */
export const Prose = ({ text }: { text: string }) => (
  <>
    {text
      .split(MARKUP)
      // Each match gives two parts: the code and the text of the link, one of them undefined.
      .map((part, i) => (i % 3 === 1 && part !== undefined ? <code key={i}>{part}</code> : part))}
  </>
)

export const noneText = (noun: string, search: string): string =>
  `No ${noun} matches${search === '' ? '' : ` “${search}”`}.`

/** Rows to come. They appear only after a moment, so that a fast response shows nothing else before. */
export const Loading = () => (
  <div class="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: 8 }, (_, i) => (
      <span key={i} />
    ))}
  </div>
)

export const Problem = ({ text, id }: { text: string | undefined; id?: string }) =>
  text === undefined ? null : (
    <p class="problem" role="alert" id={id}>
      {text}
    </p>
  )

/** How wide the parent of a list is, px. */
export function useWidth() {
  const box = useRef<HTMLOListElement>(null)
  const [width, setWidth] = useState(Number.POSITIVE_INFINITY)
  useEffect(() => {
    const parent = box.current!.parentElement!
    const observer = new ResizeObserver(() => setWidth(parent.clientWidth))
    observer.observe(parent)
    return () => observer.disconnect()
  }, [])
  return { box, width }
}
