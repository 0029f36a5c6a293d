import { useState } from 'preact/hooks'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { useClient } from '../client.ts'
import { Form, Input } from '../fields.tsx'
import { At } from '../settings.tsx'
import { Card, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { Clients } from './clients.tsx'

function Reset() {
  const { name } = useClient()
  return (
    <Card title="Reset">
      <Act
        label="Reset"
        confirm={`Resets everything of client ${name}. All changes are lost. Snapshots are not deleted.`}
        call={callOf('reset')}
        effect="Everything is reset."
      />
    </Card>
  )
}

function Snapshots() {
  const client = useClient()
  const { data, problem } = useLoaded(callOf('listSnapshots'))
  const [name, setName] = useState('ready')
  return (
    <Card title="Snapshots">
      <Form>
        <Input label="Name" name="name" value={name} onInput={setName} />
        <Act
          submit
          label="Save a snapshot"
          effect={`Snapshot ${name} is saved.`}
          disabled={name === ''}
          {...(data?.snapshots.some((one) => one.name === name) && {
            confirm: `Replaces snapshot ${name} with the current state.`,
          })}
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

export const Control = () => (
  <>
    <h2>Control</h2>
    <div class="cards">
      <Reset />
      <Snapshots />
      <Clients />
    </div>
  </>
)
