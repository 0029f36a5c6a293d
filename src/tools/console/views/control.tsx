import { useState } from 'preact/hooks'
import { EVENTS } from '../../../scenarios/operations-and-events.ts'
import { Act } from '../act.tsx'
import { type Client, callOf } from '../api.ts'
import { Choice, Form, Input, type Search, SearchField, useSearch } from '../fields.tsx'
import { At } from '../settings.tsx'
import { Card, Found, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { Clients } from './clients.tsx'
import { Rules } from './rule-form.tsx'
import { Trigger } from './send.tsx'

function TriggerEvent() {
  const [event, setEvent] = useState<string>('transaction.success')
  const [resource, setResource] = useState('')
  return (
    <Card title="Trigger an event">
      <Form>
        <Choice label="Event" value={event} values={EVENTS} onChange={setEvent} />
        <Input label="Resource id (default: the newest)" value={resource} onInput={setResource} />
        <Trigger submit event={event} resource={resource} />
      </Form>
    </Card>
  )
}

const PARTS = ['data', 'clock', 'scenario', 'assumptions', 'deliveries', 'requests'] as const

function Reset({ client }: { client: Client }) {
  const [parts, setParts] = useState<readonly string[]>(PARTS)
  const isAll = parts.length === PARTS.length
  return (
    <Card title="Reset">
      <fieldset>
        <legend>Parts</legend>
        {PARTS.map((part) => (
          <label class="check" key={part}>
            <input
              type="checkbox"
              checked={parts.includes(part)}
              onChange={({ currentTarget }) =>
                setParts(
                  PARTS.filter((one) =>
                    one === part ? currentTarget.checked : parts.includes(one),
                  ),
                )
              }
            />
            {part}
          </label>
        ))}
      </fieldset>
      <Act
        label="Reset"
        disabled={parts.length === 0}
        confirm={`Resets these parts of client ${client.name}: ${parts.join(', ')}. Their changes are lost. Snapshots are not deleted.`}
        call={callOf('reset', isAll ? {} : { body: { parts } })}
      />
    </Card>
  )
}

function Snapshots({ client, finds }: { client: Client } & Pick<Search, 'finds'>) {
  const { data, problem, reload } = useLoaded(callOf('listSnapshots'), ['recheck'])
  const found = data?.snapshots.filter((one) => finds(one.name))
  const [name, setName] = useState('ready')
  const done = () => void reload()
  return (
    <Card title="Snapshots">
      <Form>
        <Input label="Name" value={name} onInput={setName} />
        <Act
          submit
          label="Save a snapshot"
          effect={`Snapshot ${name} is saved.`}
          disabled={name === ''}
          {...(data?.snapshots.some((one) => one.name === name) && {
            confirm: `Replaces snapshot ${name} with the current state.`,
          })}
          call={callOf('saveSnapshot', { body: { name } })}
          onDone={done}
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
              onDone={done}
            />
          </li>
        ))}
      </ul>
      <Found found={found} of={data?.snapshots} noun="snapshot" />
    </Card>
  )
}

/** The controls for the whole world of the client. */
export function Control({ client }: { client: Client }) {
  const search = useSearch()
  return (
    <>
      <h2>Control</h2>
      <div class="row">
        <SearchField search={search} placeholder="rule, snapshot or client" />
      </div>
      <div class="cards">
        <Rules finds={search.finds} />
        <TriggerEvent />
        <Reset client={client} />
        <Snapshots client={client} finds={search.finds} />
        <Clients client={client} finds={search.finds} />
      </div>
    </>
  )
}
