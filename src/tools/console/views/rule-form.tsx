import { useState } from 'preact/hooks'
import { CREATING, FAULTS, OPERATIONS } from '../../../scenarios/operations-and-events.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { Check, Choice, Form, Input, useFields } from '../fields.tsx'
import { Card, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

const OUTCOMES = [
  ['status', 'respond with a status'],
  ['delay', 'respond late'],
  ['fault', 'break the connection'],
  ['lag', 'show what it creates late'],
] as const
const RUNS = [
  ['before', 'does not run'],
  ['after', 'runs before'],
  ['after_timeout', 'runs 30 s later'],
] as const
const START = {
  operation: 'createTransaction',
  outcome: 'status',
  status: '503',
  delay: '2s',
  fault: 'reset',
  at: 'before',
}

function thenOf({ outcome, status, delay, fault, at }: typeof START): object {
  if (outcome === 'delay') return { delay }
  if (outcome === 'lag') return { visible_after: delay }
  const runs =
    at === 'after' ? { at } : at === 'before' ? {} : { effect: 'after_timeout', after: '30s' }
  if (outcome === 'fault') return { fault, ...runs }
  return { respond: { status: /^\d+$/.test(status) ? Number(status) : status }, ...runs }
}

function RuleForm() {
  const { fields: form, field } = useFields(START)
  const [isOnce, setOnce] = useState(true)
  const { operation, outcome } = form
  const isCreating = CREATING.some((name) => name === operation)
  const outcomes = OUTCOMES.filter(([name]) => name !== 'lag' || isCreating)
  const shown = outcomes.some(([name]) => name === outcome) ? outcome : 'status'
  const runs = RUNS.filter(([name]) => name !== 'after_timeout' || isCreating)
  const at = runs.some(([name]) => name === form.at) ? form.at : 'before'
  const call = callOf('pushRule', {
    body: {
      when: { operation },
      ...(isOnce && { times: 1 }),
      then: thenOf({ ...form, outcome: shown, at }),
    },
  })
  return (
    <Form>
      <Choice label="When" {...field('operation')} values={['*', ...OPERATIONS]} />
      <Choice label="Then" {...field('outcome')} value={shown} values={outcomes} />
      {shown === 'status' && <Input label="Status" {...field('status')} />}
      {(shown === 'delay' || shown === 'lag') && <Input label="Delay" {...field('delay')} />}
      {shown === 'fault' && <Choice label="Fault" {...field('fault')} values={FAULTS} />}
      {(shown === 'fault' || shown === 'status') && (
        <Choice label="The operation" {...field('at')} value={at} values={runs} />
      )}
      <Check label="once" checked={isOnce} onChange={setOnce} />
      <Act submit label="Push the rule" call={call} effect="The rule is active." />
    </Form>
  )
}

export function Rules() {
  const { data, problem } = useLoaded(callOf('listRules'))
  return (
    <Card title="Write a rule" wide>
      <RuleForm />
      <p class="hint">Rules that you push come before the active scenario.</p>
      <Problem text={problem} />
      <ul class="list">
        {data?.rules.map(({ rule_id, hits, definition }) => (
          <li key={rule_id}>
            <code>{JSON.stringify(definition)}</code>
            <span class="hint">hits: {hits}</span>
            <Act
              label="Delete"
              name={rule_id}
              call={callOf('deleteRule', { params: { id: rule_id } })}
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}
