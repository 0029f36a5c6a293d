import { useEffect, useState } from 'preact/hooks'

/** Copies a string to the clipboard. Returns whether it worked. */
async function copyToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Not available in a page loaded over plain HTTP from another machine; use the older way.
  }
  const focused = document.activeElement as HTMLElement | null
  const field = document.createElement('textarea')
  field.className = 'visually-hidden'
  field.value = text
  // While a dialog is open, only text in the dialog can be selected.
  ;(focused?.closest('dialog') ?? document.body).append(field)
  field.select()
  const isDone = document.execCommand('copy')
  field.remove()
  focused?.focus()
  return isDone
}

/** A button that copies a string to the clipboard. If the browser does not allow it, shows the text to copy by hand. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState<boolean>()
  useEffect(() => setCopied(undefined), [text])
  return (
    <span class="copy">
      <button type="button" title={text} onClick={() => void copyToClipboard(text).then(setCopied)}>
        {isCopied ? 'Copied' : label}
      </button>
      {isCopied === false && (
        <label>
          The browser did not copy the text. Copy it from here:{' '}
          <textarea
            readOnly
            rows={2}
            value={text}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
        </label>
      )}
    </span>
  )
}
