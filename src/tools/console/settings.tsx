import { createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Dialog } from './act.tsx'
import { requestToken, setAsk } from './api.ts'
import { useAgo } from './client.ts'
import { Choice, Input } from './fields.tsx'
import { wallTime, type Zone, zoneName } from './format.ts'
import { reconnect, useConnection } from './live.ts'
import { Button, Problem } from './ui.tsx'

// The choices of the user, which the browser stores for this site.

export function useSetting(name: string, usual: string): [string, (value: string) => void] {
  const key = `payout-sandbox ${name}`
  const [value, setValue] = useState(localStorage.getItem(key) ?? usual)
  function choose(next: string) {
    localStorage.setItem(key, next)
    setValue(next)
  }
  return [value, choose]
}

export function Theme() {
  const [theme, setTheme] = useSetting('theme', 'system')
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme
  }, [theme])
  return (
    <Choice
      label="Theme"
      value={theme}
      values={Object.entries({ system: 'System', light: 'Light', dark: 'Dark' })}
      onInput={setTheme}
    />
  )
}

const ZoneContext = createContext<Zone>('local')
export const ZoneProvider = ZoneContext.Provider

export function useTimes() {
  const zone = useContext(ZoneContext)
  return { wallOf: (at: string) => wallTime(at, zone), zoneOf: (at: string) => zoneName(at, zone) }
}

export function useTimeText() {
  const { wallOf, zoneOf } = useTimes()
  return (at: string) => `${wallOf(at).day} ${wallOf(at).time} ${zoneOf(at)}`
}

/** An instant on the client's clock, with its zone; `short`: the time of the day alone. */
export function At({ at, short = false }: { at: string; short?: boolean }) {
  const { wallOf, zoneOf } = useTimes()
  const { day, time } = wallOf(at)
  return (
    <time dateTime={at} title={at}>
      {!short && `${day} `}
      <b>{time}</b>
      {!short && <span class="zone"> {zoneOf(at)}</span>}
    </time>
  )
}

export const Ago = (of: { at: string; short?: boolean }) => (
  <>
    <At {...of} />, {useAgo(of.at)}
  </>
)

// The dialog for the admin token, if the server requires it.

type Question = { problem: string | undefined; resolve: (token: string | undefined) => void }

export function AdminToken() {
  const [question, setQuestion] = useState<Question>()
  const isLocked = useConnection() === 'locked'
  const [token, setToken] = useState('')
  // Before the first response: later it would be asked in vain.
  useLayoutEffect(
    () =>
      setAsk((problem) => {
        setToken('')
        return new Promise((resolve) => setQuestion({ problem, resolve }))
      }),
    [],
  )
  function close(entered: string | undefined) {
    setQuestion(undefined)
    question?.resolve(entered)
  }
  if (!question)
    return !isLocked ? null : (
      <p class="problem" role="alert">
        The console needs the admin token.{' '}
        <Button
          label="Enter the token"
          onPress={() => void requestToken().then(reconnect, () => {})}
        />
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
