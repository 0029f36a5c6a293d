// Fields of forms.
import type { ComponentChildren } from 'preact'
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { searchTest } from '../../model/search.ts'
import { FormState } from './act.tsx'
import { setUrlFields, useUrlFields } from './route.ts'
import { type CallError, fieldsText } from './service.ts'
import { Problem } from './ui.tsx'

/** What is wrong with a field of the form; `name` is its name in the call. Of `kyc[0].name`, it is the last part. */
function useFieldProblem(name: string | undefined) {
  const form = useContext(FormState)
  if (name === undefined || !form) return undefined
  form.names.add(name)
  return form.error?.fields.find(({ field }) => lastPart(field) === name)?.message
}

const lastPart = (field: string) => field.split('.').at(-1)!

type FormProps = {
  children: ComponentChildren
  isTall?: boolean
  onError?: (error: CallError) => void
}

/** Fields with their button. Enter in a field presses the button; the error of its call stands at its fields, or below, until one changes. */
export function Form({ children, isTall = false, onError }: FormProps) {
  const [error, setError] = useState<CallError>()
  const [names] = useState(() => new Set<string>())
  const rest = error?.fields.filter(({ field }) => !names.has(lastPart(field))) ?? []
  function show(next: CallError) {
    setError(next)
    onError?.(next)
  }
  return (
    <FormState.Provider value={{ error, names, show }}>
      <form
        class={isTall ? '' : 'row'}
        aria-invalid={error !== undefined || undefined}
        onSubmit={(event) => event.preventDefault()}
        onInput={() => setError(undefined)}
      >
        {children}
        {error && (error.fields.length === 0 || rest.length > 0) && (
          <Problem text={rest.length === error.fields.length ? error.message : fieldsText(rest)} />
        )}
      </form>
    </FormState.Provider>
  )
}

type ChoiceProps = {
  label: string
  value: string
  values: readonly (string | readonly [string, string])[]
  onInput: (value: string) => void
}

/** A select with a label. Each option is a value, or a value and its text. */
export function Choice({ label, value, values, onInput }: ChoiceProps) {
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

type InputProps = {
  label: string
  value: string
  onInput: (value: string) => void
  /** Its name in the call of the form, whose error then stands at it. */
  name?: string
  type?: 'text' | 'search' | 'password'
  placeholder?: string
  /** For a word or a number. */
  short?: boolean
}

export function Input({ label, value, onInput, name, short = false, ...more }: InputProps) {
  const id = useId()
  const problem = useFieldProblem(name)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        type="text"
        {...more}
        id={id}
        class={short ? 'short' : ''}
        autocomplete="off"
        spellcheck={false}
        value={value}
        aria-invalid={problem !== undefined || undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <Problem text={problem} id={`${id}-problem`} />
    </div>
  )
}

type CheckProps = { label: string; checked: boolean; onChange: (checked: boolean) => void }

export const Check = ({ label, checked, onChange }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={checked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    {label}
  </label>
)

export function useFields<T extends object>(start: T) {
  const [fields, setFields] = useState(start)
  const field = <Name extends keyof T>(name: Name) => ({
    value: fields[name],
    onInput: (value: string) => setFields((before) => ({ ...before, [name]: value })),
  })
  return { fields, field }
}

type FoldProps = { title: string; children: ComponentChildren; isOpen?: boolean }

/** A form that the user opens, if it is not open from the start. It reads nothing from the server until then. */
export function Fold({ title, children, isOpen: isOpenFirst = false }: FoldProps) {
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

/** A string without the signs that only the page puts into amounts. */
const plainText = (text: string): string => text.replace(/₹|(?<=\d),(?=\d)/g, '')

/** The words that a string must contain, in any order. */
export function useSearch() {
  const text = useUrlFields().get('search') ?? ''
  const query = plainText(text)
  const isFound = searchTest(query)
  return {
    text,
    /** The words for the server; absent: none. */
    query: query || undefined,
    set: (search: string) => setUrlFields({ search }),
    finds: (other: string) => isFound?.(plainText(other)) ?? true,
  }
}

export type Search = ReturnType<typeof useSearch>

type SearchFieldProps = { search: Search; placeholder: string; isFirst?: boolean }

/** The field of a search; with `isFirst` it takes the focus. */
export function SearchField({ search, placeholder, isFirst = false }: SearchFieldProps) {
  const { text, set } = search
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

type DroppedProps = { label: string; accept: string; onFile: (file: File) => unknown }

/** A field for a file, which may also be dropped on it. */
export function Dropped({ label, accept, onFile }: DroppedProps) {
  const id = useId()
  const take = (file: File | undefined) => file && void onFile(file)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field inside does the same by keyboard.
    <div
      class="drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        take(event.dataTransfer?.files[0])
      }}
    >
      <div class="field">
        <label for={id}>{label}</label>
        <input
          id={id}
          type="file"
          accept={accept}
          onChange={({ currentTarget }) => take(currentTarget.files?.[0])}
        />
      </div>
    </div>
  )
}
