import { useState } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/caller.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { useClient } from '../client.ts'
import { Check, Form, Input } from '../fields.tsx'
import { At } from '../settings.tsx'
import { Card, Id, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

function Snapshots() {
  const client = useClient()
  const { data, problem } = useLoaded(callOf('listSnapshots'))
  const [name, setName] = useState('ready')
  const isTaken = data?.snapshots.some((one) => one.name === name)
  return (
    <Card title="Snapshots">
      <Form>
        <Input label="Name" name="name" value={name} onInput={setName} />
        <Act
          submit
          label="Save a snapshot"
          effect={`Snapshot ${name} is saved.`}
          disabled={name === ''}
          confirm={isTaken ? `Replaces snapshot ${name} with the current state.` : undefined}
          call={callOf('saveSnapshot', { body: { name } })}
        />
      </Form>
      <Problem text={problem} />
      <ul class="list">
        {data?.snapshots.map((one) => (
          <li key={one.name}>
            <span>
              {one.name} <At at={one.taken_at} />
            </span>
            <Act
              label="Restore"
              name={one.name}
              confirm={`Replaces the state of client ${client.name} with snapshot ${one.name}.`}
              call={callOf('restoreSnapshot', { params: { name: one.name } })}
            />
            <Act
              label="Delete"
              name={one.name}
              confirm={`Deletes snapshot ${one.name}.`}
              call={callOf('deleteSnapshot', { params: { name: one.name } })}
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}

const consoleUrlOf = (name: string) => (name === 'default' ? '/__admin/' : `/@${name}/__admin/`)

type Created = ResponseBody<'createClient'>

const Token = ({ name, access_token }: Created) => (
  <p role="status">
    Calls with the token <Id id={access_token} /> use {name}, and so do calls under{' '}
    <code>/@{name}</code>. <a href={consoleUrlOf(name) + location.hash}>Go to {name}</a>
  </p>
)

function Clients() {
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
      {created && <Token {...created} />}
    </Card>
  )
}

export const Control = () => (
  <>
    <h2>Control</h2>
    <div class="cards">
      <Card title="Reset">
        <Act
          label="Reset"
          confirm={`Resets everything of client ${useClient().name}. All changes are lost. Snapshots are not deleted.`}
          call={callOf('reset')}
          effect="Everything is reset."
        />
      </Card>
      <Snapshots />
      <Clients />
    </div>
  </>
)
