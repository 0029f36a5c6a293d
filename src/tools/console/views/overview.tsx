import { useState } from 'preact/hooks'
import { Act } from '../act.tsx'
import { type Client, callOf, type Timer } from '../api.ts'
import { useNow } from '../clock.ts'
import { Form, Input, SearchField, useSearch } from '../fields.tsx'
import { untilText } from '../format.ts'
import { At } from '../settings.tsx'
import { Card, Chip, Facts, Problem, Scroll } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { waitingText } from './requests.tsx'
import { RunTimer } from './send.tsx'
import { Webhook } from './webhook.tsx'

const MAX_TIMERS = 20
// An instant starts with a year; a duration does not.
const INSTANT = /^\d{4}-/

/** The controls of the clock. */
function ClockControls({ client, reload }: { client: Client; reload: () => void }) {
  const { mode } = client.clock
  const [by, setBy] = useState('1h')
  const [factor, setFactor] = useState('60')
  return (
    <Card title="Clock">
      <div class="row">
        {mode === 'frozen' ? (
          <Act label="Resume" call={callOf('resumeClock')} onDone={reload} />
        ) : (
          <Act label="Freeze" call={callOf('freezeClock')} onDone={reload} />
        )}
        <Act
          label="To the next timer"
          call={callOf('advanceClockToNext')}
          disabled={client.clock.next_timer_at === null}
          onDone={reload}
        />
      </div>
      <Form>
        <Input label="Duration or instant" value={by} onInput={setBy} />
        <Act
          submit
          label="Advance"
          call={callOf('advanceClock', { body: INSTANT.test(by) ? { to: by } : { by } })}
          onDone={reload}
        />
      </Form>
      <Form>
        <Input short label="Factor" value={factor} onInput={setFactor} />
        <Act
          submit
          label="Set speed"
          call={callOf('setClockSpeed', { body: { factor: Number(factor) } })}
          onDone={reload}
        />
      </Form>
      {mode === 'frozen' && (
        <p class="hint">
          The clock is frozen: no step and no retry happens until you advance or resume it. Setting
          a speed resumes it.
        </p>
      )}
    </Card>
  )
}

const VIEWS: Readonly<Record<string, string>> = {
  'transaction.step': 'payments',
  'transaction.utr': 'payments',
  'webhook.attempt': 'deliveries',
}

/** What a timer does, with a link to its payment or delivery. */
function TimerText({ timer }: { timer: Timer }) {
  const { kind, resource_id, payload } = timer
  // The action of a timeline is a word with its fields.
  const [action] = Object.keys((payload['do'] ?? {}) as object)
  const word = payload['status'] ?? payload['event'] ?? action ?? ''
  const view = VIEWS[kind]
  return (
    <>
      {kind} <b>{String(word)}</b>{' '}
      {resource_id !== undefined &&
        (view ? (
          <a href={`#/${view}/${resource_id}`}>{resource_id.slice(0, 12)}</a>
        ) : (
          <code>{resource_id.slice(0, 12)}</code>
        ))}
    </>
  )
}

function Timers({ client, reload }: { client: Client; reload: () => void }) {
  const search = useSearch()
  const query = { limit: MAX_TIMERS, search: search.query }
  const {
    data,
    problem,
    reload: reloadTimers,
  } = useLoaded(callOf('listTimers', { query }), [
    'timer',
    'change',
    'delivery',
    'clock',
    'scenario',
    'request',
  ])
  const now = useNow(client.clock)
  const done = () => {
    void reloadTimers()
    reload()
  }
  const more = client.clock.pending_timers - (data?.timers.length ?? 0)
  return (
    <Card title="Pending timers" wide>
      {(client.clock.pending_timers > 0 || search.text !== '') && (
        <div class="row">
          <SearchField search={search} placeholder="SUCCESS, webhook, id" />
        </div>
      )}
      <Problem text={problem} />
      {data?.timers.length === 0 && (
        <p class="empty">{search.text === '' ? 'No pending timers' : 'No timer matches.'}</p>
      )}
      {data !== undefined && data.timers.length > 0 && (
        <Scroll label="Timers">
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">At</th>
                <th scope="col">What</th>
                <th scope="col">Actions</th>
              </tr>
            </thead>
            <tbody>
              {data.timers.map((timer) => (
                <tr key={timer.timer_id}>
                  <td>{untilText(Date.parse(timer.at) - now)}</td>
                  <td>
                    <At at={timer.at} />
                  </td>
                  <td>
                    <TimerText timer={timer} />
                  </td>
                  <td>
                    <span class="row tight">
                      <RunTimer timer={timer} onDone={done} />
                      <Act
                        quiet
                        label="Cancel"
                        name={timer.timer_id}
                        call={callOf('deleteTimer', { params: { id: timer.timer_id } })}
                        onDone={done}
                      />
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {data?.timers.length === MAX_TIMERS && more > 0 && (
        <p class="hint">
          {search.text === '' ? `and ${more} more` : `The first ${MAX_TIMERS} that match.`}
        </p>
      )}
    </Card>
  )
}

const COUNTS = [
  ['users', 'Users', 'users'],
  ['transactions', 'Payments', 'payments'],
  ['deliveries', 'Deliveries', 'deliveries'],
  ['requests', 'Requests', 'requests'],
  ['rules', 'Pushed rules', 'control'],
] as const

/** The client with its record counts, its clock and its pending timers. */
export function Overview({ client, reload }: { client: Client; reload: () => void }) {
  return (
    <div class="cards">
      <ul class="counts wide" aria-label="Record counts">
        {COUNTS.map(([key, title, view]) => (
          <li key={key}>
            <a href={`#/${view}`}>
              <b>{client.counts[key]}</b> {title}
            </a>
            {key === 'requests' && client.counts.waiting > 0 && (
              <span class="hint">{waitingText(client.counts.waiting)}</span>
            )}
          </li>
        ))}
      </ul>
      <Card title="Client">
        <Facts
          facts={[
            ['Name', client.name],
            ['Id', <code key="id">{client.client_id}</code>],
            ['Status', <Chip key="status" state={client.status} />],
            ['Payers need KYC', client.check_kyc ? 'yes' : 'no'],
            [
              'Scenario',
              <a key="scenario" href={`#/scenarios/${client.scenario}`}>
                {client.scenario}
              </a>,
            ],
          ]}
        />
      </Card>
      <ClockControls client={client} reload={reload} />
      <Timers client={client} reload={reload} />
      <Webhook client={client} reload={reload} />
    </div>
  )
}
