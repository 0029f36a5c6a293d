// The dialog for the admin token, if the server requires it.
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from './act.tsx'
import { requestToken, setAsk } from './api.ts'
import { Input } from './fields.tsx'
import { reconnect } from './live.ts'
import { Problem } from './ui.tsx'

type Question = { problem: string | undefined; resolve: (token: string | undefined) => void }

/** Asks for the admin token when a call requires it. After a cancel, shows a button that asks again. */
export function AdminToken() {
  const [question, setQuestion] = useState<Question>()
  const [isDeclined, setDeclined] = useState(false)
  const [token, setToken] = useState('')
  useEffect(
    () =>
      setAsk((problem) => {
        setToken('')
        return new Promise((resolve) => setQuestion({ problem, resolve }))
      }),
    [],
  )
  function close(entered: string | undefined) {
    setQuestion(undefined)
    setDeclined(entered === undefined)
    question?.resolve(entered)
  }
  if (!question)
    return !isDeclined ? null : (
      <p>
        The console needs the admin token.{' '}
        <button type="button" onClick={() => void requestToken().then(reconnect, () => {})}>
          Enter the token
        </button>
      </p>
    )
  return (
    <Dialog title="Admin token" onClose={() => close(undefined)}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          close(token.trim())
        }}
      >
        <Problem text={question.problem} />
        <p>
          The sandbox prints it at the start, or it is set with --admin-token. The browser stores it
          until you close this tab.
        </p>
        <Input label="Token" type="password" value={token} onInput={setToken} />
        <div class="row end">
          <button type="submit">Use the token</button>
        </div>
      </form>
    </Dialog>
  )
}
