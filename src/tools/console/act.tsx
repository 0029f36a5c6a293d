// tools/console/: the page of the console, which runs in a browser. It knows the sandbox only by the admin API, and
// imports only types and words of the server.

// Buttons that do something, and the dialog that asks first.
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Call, type CallId, type EffectOf, type Response, send, textOf } from './api.ts'
import type { CallError } from './service.ts'
import { Button } from './ui.tsx'

/** Of a form: the error of its last call, the names of the fields that show their own part of it, and what gets the next. */
type FormState = {
  error: CallError | undefined
  names: Set<string>
  show: (error: CallError) => void
}
export const FormState = createContext<FormState | undefined>(undefined)

const CallsContext = createContext(false)
export const CallsProvider = CallsContext.Provider
export const useShownCalls = () => useContext(CallsContext)

type ActProps<Id extends CallId> = {
  label: string
  call: Call<Id>
  confirm?: string | undefined
  onDone?: (response: Response<Id>) => void
  /** What the call does, for the line of the last call, or how its response says so. */
  effect?: string | EffectOf<Response<Id>>
  disabled?: boolean
  /** Of a choice: whether it is the one in force. */
  isPressed?: boolean
  submit?: boolean
  /** What the button acts on, for users of screen readers. */
  name?: string
}

/** A button that sends a call, and shows it on demand. With `confirm`, a dialog with this text asks first. */
export function Act<Id extends CallId>(props: ActProps<Id>) {
  const { label, call, confirm, onDone, effect, isPressed, name, submit, disabled = false } = props
  const id = useId()
  const [isBusy, setBusy] = useState(false)
  const [isConfirming, setConfirming] = useState(false)
  const areCallsShown = useShownCalls()
  const form = useContext(FormState)

  // Shown with aria-disabled: an element with the attribute `disabled` loses the focus.
  const isDisabled = disabled || isBusy
  const effectOf = typeof effect === 'string' ? () => ({ text: effect, isBad: false }) : effect

  async function run() {
    setConfirming(false)
    setBusy(true)
    try {
      const response = await send(call, label, effectOf, form !== undefined)
      onDone?.(response)
    } catch (error) {
      // The line of the last call shows what got no response.
      if ((error as CallError).status !== 0) form?.show(error as CallError)
    } finally {
      setBusy(false)
    }
  }

  return (
    <span class="act">
      <button
        type={submit ? 'submit' : 'button'}
        class={confirm ? 'danger' : ''}
        aria-disabled={isDisabled || undefined}
        aria-describedby={id}
        aria-pressed={isPressed}
        aria-label={name === undefined ? undefined : `${label}: ${name}`}
        title={areCallsShown ? textOf(call) : undefined}
        onClick={() => {
          if (isDisabled) return
          if (confirm) setConfirming(true)
          else void run()
        }}
      >
        {label}
      </button>
      <code id={id} class="visually-hidden">
        {textOf(call)}
      </code>
      {isConfirming && (
        <Dialog title={`${label}?`} onClose={() => setConfirming(false)}>
          <p>{confirm}</p>
          {areCallsShown && (
            <p>
              <code class="call">{textOf(call)}</code>
            </p>
          )}
          <div class="row end">
            <Button label="Back" onPress={() => setConfirming(false)} />
            <button type="button" class="danger" onClick={() => void run()}>
              {label}
            </button>
          </div>
        </Dialog>
      )}
    </span>
  )
}

type DialogProps = { title: string; onClose: () => void; children: ComponentChildren }

/** A modal dialog. Escape calls `onClose`, which must remove the dialog. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isShown = useRef(false)
  const id = useId()
  useLayoutEffect(() => {
    const box = dialog.current!
    box.showModal()
    isShown.current = true
    // close() returns the focus to the button; removing the element does not.
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
