import { useEffect, useRef, useState } from 'preact/hooks'
import { Act, Copy, Dialog } from '../act.tsx'
import { BASE, onMade } from '../api.ts'
import { useLoaded } from '../data.ts'
import { Form, Input } from '../fields.tsx'
import type { Client } from '../types.ts'
import { Card, Problem } from '../ui.tsx'

type Listed = { clients: { name: string; scenario: string; now: string }[] }

const placeOf = (name: string) => (name === 'default' ? '/__admin/' : `/@${name}/__admin/`)

function useClients() {
  const loaded = useLoaded<Listed>('/clients', ['look'])
  const { reload } = loaded
  useEffect(
    () =>
      onMade(({ path }) => {
        if (path.startsWith('/clients')) void reload()
      }),
    [reload],
  )
  return loaded
}

/** The client that is looked at, and the ways to the others: each is a page of its own, at its own base path. */
export function ClientMenu({ name = BASE.slice(2) || 'default' }: { name: string | undefined }) {
  const { data } = useClients()
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => menu.current?.removeAttribute('open')
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={({ key }) => {
        if (key !== 'Escape') return
        close()
        menu.current?.querySelector('summary')?.focus()
      }}
      onFocusOut={({ relatedTarget }) => {
        if (!menu.current?.contains(relatedTarget as Node | null)) close()
      }}
    >
      <summary>
        <span class="word">Client </span>
        <b>{name}</b>
      </summary>
      <ul>
        {data?.clients.map((one) => (
          <li key={one.name}>
            <a
              href={placeOf(one.name) + location.hash}
              aria-current={one.name === name ? 'page' : undefined}
            >
              {one.name}
            </a>
          </li>
        ))}
      </ul>
    </details>
  )
}

type Made = { name: string; access_token: string }

/** Shows the token of a new client; it is never shown again. */
const Token = ({ made, onClose }: { made: Made; onClose: () => void }) => (
  <Dialog title={`The client ${made.name} is made`} onClose={onClose}>
    <p>
      The token is shown only once. Calls of the service with this token are for {made.name}, and so
      are those under <code>/@{made.name}</code>.
    </p>
    <div class="row">
      <code>{made.access_token}</code>
      <Copy text={made.access_token} label="Copy the token" />
    </div>
    <div class="row end">
      <button type="button" onClick={onClose}>
        Stay here
      </button>
      <a class="button" href={placeOf(made.name) + location.hash}>
        Go to {made.name}
      </a>
    </div>
  </Dialog>
)

/** List the clients, and a new one. */
export function Clients({ client }: { client: Client }) {
  const { data, problem } = useClients()
  const [name, setName] = useState('')
  const [isFork, setFork] = useState(false)
  const [made, setMade] = useState<Made>()
  const body = { name, ...(isFork && { from: { client: client.name } }) }
  return (
    <Card title="Clients">
      <p class="hint">Each has a world of its own. Another one opens at its own base path.</p>
      <Problem text={problem} />
      <ul class="list">
        {data?.clients.map((one) => (
          <li key={one.name}>
            <a href={`${placeOf(one.name)}${location.hash}`}>{one.name}</a>
            <span class="hint">{one.scenario}</span>
            {one.name !== 'default' && one.name !== client.name && (
              <Act
                quiet
                label="Delete"
                name={one.name}
                confirm={`The client ${one.name} is deleted with all it has.`}
                call={{ method: 'DELETE', path: `/clients/${one.name}` }}
              />
            )}
          </li>
        ))}
      </ul>
      <Form>
        <Input label="Name" value={name} placeholder="worker-3" onInput={setName} />
        <label class="check">
          <input
            type="checkbox"
            checked={isFork}
            onChange={({ currentTarget }) => setFork(currentTarget.checked)}
          />
          as a fork of {client.name}
        </label>
        <Act
          submit
          label="New client"
          disabled={name === ''}
          call={{ method: 'POST', path: '/clients', body }}
          onDone={setMade}
        />
      </Form>
      {made && <Token made={made} onClose={() => setMade(undefined)} />}
    </Card>
  )
}
