// Buttons that do something, and the dialog that asks first.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Call, type EffectOf, make, textOf } from './api.ts'

/** A button that makes an admin call, with the call beside it; `confirm` says what would be lost. */
export function Act({
  label,
  call,
  confirm,
  onDone,
  effectOf,
  disabled = false,
  quiet = false,
  submit = false,
  name,
}: {
  label: string
  call: Call
  confirm?: string
  onDone?: (answer: never) => void
  effectOf?: EffectOf<never> | undefined
  disabled?: boolean
  /** Shows the call only as a tooltip and to screen readers, for lists with many similar buttons. */
  quiet?: boolean
  /** It is the button of its form. */
  submit?: boolean
  /** What it is about, for those who don't see the row. */
  name?: string
}) {
  const id = useId()
  const [isBusy, setBusy] = useState(false)
  const [isAsking, setAsking] = useState(false)

  // Not by `disabled`: what is disabled loses the focus.
  const isOff = disabled || isBusy

  async function run() {
    setAsking(false)
    setBusy(true)
    try {
      const answer = await make(call, effectOf)
      onDone?.(answer)
    } catch {
      // The line of the last call shows the error.
    } finally {
      setBusy(false)
    }
  }

  return (
    <span class="act">
      <button
        type={submit ? 'submit' : 'button'}
        class={confirm ? 'danger' : ''}
        aria-disabled={isOff || undefined}
        aria-describedby={id}
        aria-label={name === undefined ? undefined : `${label}: ${name}`}
        title={textOf(call)}
        onClick={() => {
          if (isOff) return
          if (confirm) setAsking(true)
          else void run()
        }}
      >
        {label}
      </button>
      <code id={id} class={quiet ? 'call visually-hidden' : 'call'}>
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

/** A dialog over the page; Escape closes it, which `onClose` has to make true. */
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
  const isShown = useRef(false)
  const id = useId()
  useLayoutEffect(() => {
    const box = dialog.current!
    box.showModal()
    isShown.current = true
    // Closed, it gives the focus back; taken away, it would not.
    return () => {
      isShown.current = false
      box.close()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        if (isShown.current) onClose()
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

/** Puts a text on the clipboard, and says whether it is there. */
async function onClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Not available in a page loaded over plain HTTP from another machine; use the older way.
  }
  const place = document.activeElement as HTMLElement | null
  const field = document.createElement('textarea')
  field.className = 'visually-hidden'
  field.value = text
  // Outside an open dialog nothing can be selected.
  ;(place?.closest('dialog') ?? document.body).append(field)
  field.select()
  const isDone = document.execCommand('copy')
  field.remove()
  place?.focus()
  return isDone
}

/** Puts a text on the clipboard; where the browser does not let it, shows the text to be copied by hand. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState<boolean>()
  useEffect(() => setCopied(undefined), [text])
  return (
    <span class="copy">
      <button type="button" title={text} onClick={() => void onClipboard(text).then(setCopied)}>
        {isCopied ? 'Copied' : label}
      </button>
      {isCopied === false && (
        <label>
          The browser did not copy it. Copy it from here:{' '}
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
