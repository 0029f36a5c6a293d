// The admin token, where the server wants one.
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from './act.tsx'
import { onTokenNeeded, takeToken } from './api.ts'
import { Input } from './fields.tsx'
import { reconnect } from './live.ts'
import { Problem } from './ui.tsx'

type Asking = { problem: string | undefined; give: (token: string | undefined) => void }

/** Asks for the admin token when a call wants it, and offers to ask again where it was not given. */
export function AdminToken() {
  const [asking, setAsking] = useState<Asking>()
  const [isDeclined, setDeclined] = useState(false)
  const [token, setToken] = useState('')
  useEffect(
    () =>
      onTokenNeeded((problem) => {
        setToken('')
        return new Promise((give) => setAsking({ problem, give }))
      }),
    [],
  )
  function answer(given: string | undefined) {
    setAsking(undefined)
    setDeclined(given === undefined)
    asking?.give(given)
  }
  if (!asking)
    return !isDeclined ? null : (
      <p>
        Without the admin token there is nothing to see.{' '}
        <button type="button" onClick={() => void takeToken().then(reconnect, () => {})}>
          Give the token
        </button>
      </p>
    )
  return (
    <Dialog title="Admin token" onClose={() => answer(undefined)}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          answer(token.trim())
        }}
      >
        <Problem text={asking.problem} />
        <p>
          It is printed when the sandbox starts, or given by --admin-token. It is kept until this
          tab is closed.
        </p>
        <Input label="Token" type="password" value={token} onInput={setToken} />
        <div class="row end">
          <button type="submit">Use it</button>
        </div>
      </form>
    </Dialog>
  )
}
