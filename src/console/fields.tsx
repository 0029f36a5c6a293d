// Fields of forms.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** Fields with their button. Enter in a field presses the button. */
export const Form = ({ children }: { children: ComponentChildren }) => (
  <form class="row" onSubmit={(event) => event.preventDefault()}>
    {children}
  </form>
)

/** A select with a label. Each option is a value, or a value and its text. */
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
