import { useEffect, useState } from 'preact/hooks'

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
