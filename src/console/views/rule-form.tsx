import { useState } from 'preact/hooks'
import { OPERATIONS } from '../../scenarios/words.ts'
import { Act } from '../act.tsx'
import type { Call } from '../api.ts'
import { useLoaded } from '../data.ts'
import { Choice, Form, Input } from '../fields.tsx'
import { Card, Problem } from '../ui.tsx'

const LIVES = {
  createTransaction: ['transaction', ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED']],
  submitKyc: ['kyc', ['pending', 'success', 'failed']],
  addBankAccount: ['bank', ['pending', 'success', 'failed']],
} as const
const WAYS = [
  ['status', 'responds with a status'],
  ['delay', 'responds late'],
  ['fault', 'breaks the connection'],
  ['life', 'is carried out and ends like this'],
] as const
const FAULTS = ['reset', 'hang', 'empty', 'malformed', 'truncate'] as const
type Way = (typeof WAYS)[number][0]

type Values = {
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

function outcomeOf({ operation, way, status, delay, fault, at, end, after }: Values): object {
  if (way === 'delay') return { delay }
  if (way === 'fault') return { fault, ...(at === 'after' && { at }) }
  if (way === 'status' || !hasLife(operation)) return { respond: { status: Number(status) } }
  const [noun, states] = LIVES[operation]
  const known: readonly string[] = states
  const last = known.includes(end) ? end : states[0]
  const first = { status: states[0] }
  if (last === first.status) return { [noun]: [first] }
  // A record may be decided about as it is made; a payment begins as PENDING whatever comes then.
  if (after === '' && noun !== 'transaction') return { [noun]: [{ status: last }] }
  return { [noun]: [first, { status: last, after: after || '0s' }] }
}

type Pushed = { rules: { rule_id: string; hits: number; definition: object }[] }

/** Pushes a rule that is said in a short form, and lists those that were pushed. */
export function Rules() {
  const { data, problem, reload } = useLoaded<Pushed>('/rules', ['scenario', 'request'])
  const [form, setForm] = useState<Values>({
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
  const set = (field: keyof Values) => (value: string) => setForm({ ...form, [field]: value })
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
      <Form>
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
        <Act submit label="Push the rule" call={call} onDone={() => void reload()} />
      </Form>
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
