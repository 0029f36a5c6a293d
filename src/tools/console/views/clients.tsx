import { useState } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/caller.ts'
import { Act, Dialog } from '../act.tsx'
import { callOf } from '../api.ts'
import { useClient } from '../client.ts'
import { Copy } from '../copy.tsx'
import { Check, Form, Input } from '../fields.tsx'
import { Card, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

const consoleUrlOf = (name: string) => (name === 'default' ? '/__admin/' : `/@${name}/__admin/`)

type Created = ResponseBody<'createClient'>

const Token = ({ created, onClose }: { created: Created; onClose: () => void }) => (
  <Dialog title={`Client ${created.name} was created`} onClose={onClose}>
    <p>
      Calls with this token use the client {created.name}. Calls under <code>/@{created.name}</code>{' '}
      use it too.
    </p>
    <div class="row">
      <code>{created.access_token}</code>
      <Copy text={created.access_token} label="Copy the token" />
    </div>
    <div class="row end">
      <button type="button" onClick={onClose}>
        Stay here
      </button>
      <a class="button" href={consoleUrlOf(created.name) + location.hash}>
        Go to {created.name}
      </a>
    </div>
  </Dialog>
)

export function Clients() {
  const client = useClient()
  const { data, problem } = useLoaded(callOf('listClients'))
  const [name, setName] = useState('')
  const [isFork, setFork] = useState(false)
  const [created, setCreated] = useState<Created>()
  const body = { name, ...(isFork && { from: { client: client.name } }) }
  return (
    <Card title="Clients">
      <p class="hint">Each client has its own world. To see another client, open its base path.</p>
      <Problem text={problem} />
      <ul class="list">
        {data?.clients.map((one) => (
          <li key={one.name}>
            <a href={`${consoleUrlOf(one.name)}${location.hash}`}>{one.name}</a>
            <span class="hint">{one.scenario}</span>
            {one.name !== 'default' && one.name !== client.name && (
              <Act
                label="Delete"
                name={one.name}
                confirm={`Deletes client ${one.name} and all its data.`}
                call={callOf('deleteClient', { params: { name: one.name } })}
              />
            )}
          </li>
        ))}
      </ul>
      <Form>
        <Input label="Name" name="name" value={name} placeholder="worker-3" onInput={setName} />
        <Check label={`as a fork of ${client.name}`} checked={isFork} onChange={setFork} />
        <Act
          submit
          label="New client"
          disabled={name === ''}
          call={callOf('createClient', { body })}
          onDone={setCreated}
        />
      </Form>
      {created && <Token created={created} onClose={() => setCreated(undefined)} />}
    </Card>
  )
}
