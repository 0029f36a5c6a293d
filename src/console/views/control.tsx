import { useState } from 'preact/hooks'
import { EVENTS } from '../../scenarios/words.ts'
import { Act } from '../act.tsx'
import { useLoaded } from '../data.ts'
import { Choice, Form, Input } from '../fields.tsx'
import type { Client } from '../types.ts'
import { At, Card, Problem } from '../ui.tsx'
import { Clients } from './clients.tsx'
import { Rules } from './rule-form.tsx'
import { Trigger } from './send.tsx'

function FireEvent() {
  const [event, setEvent] = useState<string>('transaction.success')
  const [resource, setResource] = useState('')
  return (
    <Card title="Fire an event">
      <Form>
        <Choice label="Event" value={event} values={EVENTS} onChange={setEvent} />
        <Input label="About (id; empty: the newest)" value={resource} onInput={setResource} />
        <Trigger submit event={event} resource={resource} />
      </Form>
    </Card>
  )
}

const PARTS = ['data', 'clock', 'scenario', 'deliveries', 'requests'] as const

function Reset({ client }: { client: Client }) {
  const [parts, setParts] = useState<readonly string[]>(PARTS)
  const isAll = parts.length === PARTS.length
  return (
    <Card title="Back to the start">
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
        confirm={`This sets back these parts of the client ${client.name}: ${parts.join(', ')}. Their changes are lost. Snapshots are kept.`}
        call={{ method: 'POST', path: '/reset', ...(!isAll && { body: { parts } }) }}
      />
    </Card>
  )
}

type Kept = { snapshots: { name: string; taken_at: string }[] }

function Snapshots({ client }: { client: Client }) {
  const { data, problem, reload } = useLoaded<Kept>('/snapshots', ['look'])
  const [name, setName] = useState('ready')
  const done = () => void reload()
  return (
    <Card title="Snapshots">
      <Form>
        <Input label="Name" value={name} onInput={setName} />
        <Act
          submit
          label="Save a snapshot"
          disabled={name === ''}
          {...(data?.snapshots.some((one) => one.name === name) && {
            confirm: `The snapshot ${name} is replaced by one of this moment.`,
          })}
          call={{ method: 'POST', path: '/snapshots', body: { name } }}
          onDone={done}
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
              quiet
              label="Restore"
              name={one.name}
              confirm={`What the client ${client.name} has is replaced by the snapshot ${one.name}.`}
              call={{ method: 'POST', path: `/snapshots/${one.name}/restore` }}
            />
            <Act
              quiet
              label="Forget"
              name={one.name}
              confirm={`The snapshot ${one.name} is lost.`}
              call={{ method: 'DELETE', path: `/snapshots/${one.name}` }}
              onDone={done}
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** What changes the client's world as a whole. */
export function Control({ client }: { client: Client }) {
  return (
    <>
      <h2>Control</h2>
      <div class="cards">
        <Rules />
        <FireEvent />
        <Reset client={client} />
        <Snapshots client={client} />
        <Clients client={client} />
      </div>
    </>
  )
}
