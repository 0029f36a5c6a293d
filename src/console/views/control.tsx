import { useEffect, useState } from 'preact/hooks'
import { EVENTS, OPERATIONS } from '../../scenarios/words.ts'
import { BASE, type Call, onMade } from '../api.ts'
import { useLoaded } from '../data.ts'
import type { Client } from '../types.ts'
import { Act, At, Card, Choice, Input, Problem } from '../ui.tsx'

type Listed = { clients: { name: string; scenario: string; now: string }[] }

const placeOf = (name: string) => (name === 'default' ? '/__admin/' : `/@${name}/__admin/`)

function useClients() {
  const loaded = useLoaded<Listed>('/clients', ['gap'])
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

/** The client that is looked at; another one is a page of its own, at its own base path. */
export function ClientChoice({ name = BASE.slice(2) }: { name: string | undefined }) {
  const { data } = useClients()
  const names = data?.clients.map((one) => one.name) ?? [name]
  return (
    <Choice
      label="Client"
      value={name}
      values={names}
      onChange={(next) => location.assign(placeOf(next) + location.hash)}
    />
  )
}

function Clients({ client }: { client: Client }) {
  const { data, problem } = useClients()
  const [name, setName] = useState('')
  const [isFork, setFork] = useState(false)
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
      <div class="row">
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
          label="New client"
          disabled={name === ''}
          call={{ method: 'POST', path: '/clients', body }}
          onDone={() => location.assign(placeOf(name))}
        />
      </div>
    </Card>
  )
}

// ---- a rule in a short form

const LIVES = {
  createTransaction: ['transaction', ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED']],
  submitKyc: ['kyc', ['pending', 'success', 'failed']],
  addBankAccount: ['bank', ['pending', 'success', 'failed']],
} as const
const WAYS = [
  ['status', 'answers with a status'],
  ['delay', 'answers late'],
  ['fault', 'breaks the connection'],
  ['life', 'is carried out and ends like this'],
] as const
const FAULTS = ['reset', 'hang', 'empty', 'malformed', 'truncate'] as const
type Way = (typeof WAYS)[number][0]

type Form = {
  operation: string
  way: Way
  status: string
  delay: string
  fault: string
  at: string
  end: string
  after: string
  once: boolean
}

const hasLife = (operation: string): operation is keyof typeof LIVES => operation in LIVES

function outcomeOf({ operation, way, status, delay, fault, at, end, after }: Form): object {
  if (way === 'delay') return { delay }
  if (way === 'fault') return { fault, ...(at === 'after' && { at }) }
  if (way === 'status' || !hasLife(operation)) return { respond: { status: Number(status) } }
  const [noun, states] = LIVES[operation]
  const known: readonly string[] = states
  const last = known.includes(end) ? end : states[0]
  const first = states[0]
  if (last === first) return { [noun]: [{ status: first }] }
  return {
    [noun]: after === '' ? [{ status: last }] : [{ status: first }, { status: last, after }],
  }
}

type Pushed = { rules: { rule_id: string; hits: number; definition: object }[] }

function Rules() {
  const { data, problem, reload } = useLoaded<Pushed>('/rules', ['scenario', 'request'])
  const [form, setForm] = useState<Form>({
    operation: 'createTransaction',
    way: 'status',
    status: '503',
    delay: '2s',
    fault: 'reset',
    at: 'before',
    end: 'FAILED',
    after: '',
    once: true,
  })
  const set = (field: keyof Form) => (value: string) => setForm({ ...form, [field]: value })
  const { operation, way } = form
  const ways = hasLife(operation) ? WAYS : WAYS.filter(([name]) => name !== 'life')
  const shown = ways.some(([name]) => name === way) ? way : 'status'
  const call: Call = {
    method: 'POST',
    path: '/rules',
    body: {
      when: { operation },
      ...(form.once && { times: 1 }),
      then: outcomeOf({ ...form, way: shown }),
    },
  }
  return (
    <Card title="A rule in front of the scenario" wide>
      <div class="row">
        <Choice
          label="When"
          value={operation}
          values={['*', ...OPERATIONS]}
          onChange={set('operation')}
        />
        <Choice label="Then it" value={shown} values={ways} onChange={set('way')} />
        {shown === 'status' && <Input label="Status" value={form.status} onInput={set('status')} />}
        {shown === 'delay' && <Input label="Delay" value={form.delay} onInput={set('delay')} />}
        {shown === 'fault' && (
          <>
            <Choice label="How" value={form.fault} values={FAULTS} onChange={set('fault')} />
            <Choice
              label="When"
              value={form.at}
              values={[
                ['before', 'before it is carried out'],
                ['after', 'after it was carried out'],
              ]}
              onChange={set('at')}
            />
          </>
        )}
        {shown === 'life' && hasLife(operation) && (
          <>
            <Choice
              label="Status"
              value={form.end}
              values={LIVES[operation][1]}
              onChange={set('end')}
            />
            <Input label="After (5s, 1d)" value={form.after} onInput={set('after')} />
          </>
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={form.once}
            onChange={({ currentTarget }) => setForm({ ...form, once: currentTarget.checked })}
          />
          once
        </label>
      </div>
      <Act label="Push the rule" call={call} onDone={() => void reload()} />
      <Problem text={problem} />
      <ul class="list">
        {data?.rules.map(({ rule_id, hits, definition }) => (
          <li key={rule_id}>
            <code>{JSON.stringify(definition)}</code>
            <span class="hint">acted {hits} ×</span>
            <Act
              quiet
              label="Take away"
              name={rule_id}
              call={{ method: 'DELETE', path: `/rules/${rule_id}` }}
              onDone={() => void reload()}
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Trigger() {
  const [event, setEvent] = useState<string>('transaction.success')
  const [resource, setResource] = useState('')
  return (
    <Card title="Fire an event">
      <div class="row">
        <Choice label="Event" value={event} values={EVENTS} onChange={setEvent} />
        <Input label="About (id; empty: the newest)" value={resource} onInput={setResource} />
      </div>
      <Act
        label="Trigger"
        call={{
          method: 'POST',
          path: '/webhooks/trigger',
          body: { event, ...(resource !== '' && { resource_id: resource }) },
        }}
      />
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
        confirm={`What the client ${client.name} has of this is lost: ${parts.join(', ')}. Snapshots stay.`}
        call={{ method: 'POST', path: '/reset', ...(!isAll && { body: { parts } }) }}
      />
    </Card>
  )
}

type Kept = { snapshots: { name: string; taken_at: string }[] }

function Snapshots({ client }: { client: Client }) {
  const { data, problem, reload } = useLoaded<Kept>('/snapshots', [])
  const [name, setName] = useState('ready')
  const done = () => void reload()
  return (
    <Card title="Snapshots">
      <div class="row">
        <Input label="Name" value={name} onInput={setName} />
        <Act
          label="Keep a snapshot"
          disabled={name === ''}
          {...(data?.snapshots.some((one) => one.name === name) && {
            confirm: `The snapshot ${name} is replaced by one of this moment.`,
          })}
          call={{ method: 'POST', path: '/snapshots', body: { name } }}
          onDone={done}
        />
      </div>
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
        <Trigger />
        <Reset client={client} />
        <Snapshots client={client} />
        <Clients client={client} />
      </div>
    </>
  )
}
