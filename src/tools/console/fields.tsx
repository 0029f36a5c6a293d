// Fields of forms.
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { searchTest } from '../../model/search.ts'
import { FormProblem } from './act.tsx'
import { useUrlField } from './route.ts'

/** Fields with their button. Enter in a field presses the button; the error of its call stands below until a field changes. */
export function Form({
  children,
  isTall = false,
}: {
  children: ComponentChildren
  isTall?: boolean
}) {
  const [problem, setProblem] = useState<string>()
  return (
    <FormProblem.Provider value={setProblem}>
      <form
        class={isTall ? '' : 'row'}
        aria-invalid={problem !== undefined || undefined}
        onSubmit={(event) => event.preventDefault()}
        onInput={() => setProblem(undefined)}
      >
        {children}
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
      </form>
    </FormProblem.Provider>
  )
}

/** A select with a label. Each option is a value, or a value and its text. */
export function Choice({
  label,
  value,
  values,
  onInput,
}: {
  label: string
  value: string
  values: readonly (string | readonly [string, string])[]
  onInput: (value: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onInput(currentTarget.value)}>
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

/** A text field with a label. */
export function Input({
  label,
  value,
  onInput,
  type = 'text',
  placeholder,
  short = false,
}: {
  label: string
  value: string
  onInput: (value: string) => void
  type?: 'text' | 'search' | 'password'
  placeholder?: string
  /** For a word or a number. */
  short?: boolean
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class={short ? 'short' : ''}
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

/** A checkbox with its label. */
export const Check = ({
  label,
  checked,
  onChange,
}: {
  label: string
  checked: boolean
  onChange: (checked: boolean) => void
}) => (
  <label class="check">
    <input
      type="checkbox"
      checked={checked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    {label}
  </label>
)

/** The values of the fields of a form, and the properties of the input of each of them. */
export function useFields<T extends object>(start: T) {
  const [fields, setFields] = useState(start)
  const field = <Name extends keyof T>(name: Name) => ({
    value: fields[name],
    onInput: (value: string) => setFields((before) => ({ ...before, [name]: value })),
  })
  return { fields, field }
}

/** A form that the user opens, if it is not open from the start. It reads nothing from the server until then. */
export function Fold({
  title,
  children,
  isOpen: isOpenFirst = false,
}: {
  title: string
  children: ComponentChildren
  isOpen?: boolean
}) {
  const [isOpen, setOpen] = useState(isOpenFirst)
  return (
    <details
      class="fold"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  )
}

/** The words that a string must contain, in any order. */
export type Search = {
  text: string
  /** The words for the server; absent: none. */
  query: string | undefined
  set: (text: string) => void
  /** Whether a string contains all words. */
  finds: (text: string) => boolean
}

/** A string without the signs that only the page puts into amounts. */
const plainText = (text: string): string => text.replace(/₹|(?<=\d),(?=\d)/g, '')

/** The search of a list, whose words are in the URL. */
export function useSearch(): Search {
  const [text, set] = useUrlField('search')
  const query = plainText(text)
  const isFound = searchTest(query)
  return {
    text,
    query: query || undefined,
    set,
    finds: (other) => isFound?.(plainText(other)) ?? true,
  }
}

/** The field of a search. */
export function SearchField({
  search: { text, set },
  placeholder,
  isFirst = false,
}: {
  search: Search
  placeholder: string
  /** Takes the focus. */
  isFirst?: boolean
}) {
  const box = useRef<HTMLDivElement>(null)
  // Before the next key: who types on must not lose a letter.
  useLayoutEffect(() => {
    if (isFirst) box.current!.querySelector('input')!.focus()
  }, [isFirst])
  return (
    <div ref={box}>
      <Input label="Search" type="search" placeholder={placeholder} value={text} onInput={set} />
    </div>
  )
}
