import { useState } from 'preact/hooks'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { useClient } from '../client.ts'
import { Check, Form, Input, type Search, SearchField, useSearch } from '../fields.tsx'
import { At } from '../settings.tsx'
import { Card, Found, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { Clients } from './clients.tsx'
import { Trigger } from './send.tsx'

const PARTS = ['data', 'clock', 'scenario', 'assumptions', 'deliveries', 'requests'] as const

function Reset() {
  const client = useClient()
  const [parts, setParts] = useState<readonly string[]>(PARTS)
  const isAll = parts.length === PARTS.length
  return (
    <Card title="Reset">
      <fieldset class="card row">
        <legend>Parts</legend>
        {PARTS.map((part) => (
          <Check
            key={part}
            label={part}
            checked={parts.includes(part)}
            onChange={(isChosen) =>
              setParts(PARTS.filter((one) => (one === part ? isChosen : parts.includes(one))))
            }
          />
        ))}
      </fieldset>
      <Act
        label="Reset"
        disabled={parts.length === 0}
        confirm={`Resets these parts of client ${client.name}: ${parts.join(', ')}. Their changes are lost. Snapshots are not deleted.`}
        call={callOf('reset', isAll ? {} : { body: { parts } })}
        effect={`Reset: ${isAll ? 'everything' : parts.join(', ')}.`}
      />
    </Card>
  )
}

function Snapshots({ search }: { search: Search }) {
  const client = useClient()
  const { data, problem } = useLoaded(callOf('listSnapshots'))
  const found = data?.snapshots.filter((one) => search.finds(one.name))
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
        {found?.map((one) => (
          <li key={one.name}>
            <span>
              {one.name} <At at={one.taken_at} />
            </span>
            <Act
              quiet
              label="Restore"
              name={one.name}
              confirm={`Replaces the state of client ${client.name} with snapshot ${one.name}.`}
              call={callOf('restoreSnapshot', { params: { name: one.name } })}
            />
            <Act
              quiet
              label="Delete"
              name={one.name}
              confirm={`Deletes snapshot ${one.name}.`}
              call={callOf('deleteSnapshot', { params: { name: one.name } })}
            />
          </li>
        ))}
      </ul>
      <Found found={found} noun="snapshot" search={search.text} />
    </Card>
  )
}

/** The controls for the whole world of the client. */
export function Control() {
  const search = useSearch()
  return (
    <>
      <h2>Control</h2>
      <div class="row">
        <SearchField search={search} placeholder="snapshot or client" />
      </div>
      <div class="cards">
        <Card title="Trigger an event">
          <Trigger />
        </Card>
        <Reset />
        <Snapshots search={search} />
        <Clients search={search} />
      </div>
    </>
  )
}
