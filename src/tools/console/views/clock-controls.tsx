import { useState } from 'preact/hooks'
import { Act } from '../act.tsx'
import { type Client, callOf } from '../api.ts'
import { Form, Input } from '../fields.tsx'
import { Card } from '../ui.tsx'

// An instant starts with a year; a duration does not.
const INSTANT = /^\d{4}-/

/** The controls of the clock. */
export function ClockControls({ client, reload }: { client: Client; reload: () => void }) {
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
