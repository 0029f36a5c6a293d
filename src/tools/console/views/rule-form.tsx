import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { CREATING, FAULTS, OPERATIONS } from '../../../scenarios/operations-and-events.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { Check, Choice, Form, Input, useFields } from '../fields.tsx'
import { Card, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

const STEP_STATUSES = {
  createTransaction: ['transaction', ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED']],
  submitKyc: ['kyc', ['pending', 'success', 'failed']],
  addBankAccount: ['bank', ['pending', 'success', 'failed']],
} as const
const OUTCOMES = [
  ['status', 'respond with a status'],
  ['delay', 'respond late'],
  ['fault', 'break the connection'],
  ['lag', 'show what it creates late'],
  ['steps', 'set the final status'],
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
  end: 'FAILED',
  after: '',
}
type Values = typeof START

const hasSteps = (operation: string): operation is keyof typeof STEP_STATUSES =>
  operation in STEP_STATUSES

function thenOf({ operation, outcome, status, delay, fault, at, end, after }: Values): object {
  if (outcome === 'delay') return { delay }
  if (outcome === 'lag') return { visible_after: delay }
  const runs =
    at === 'after' ? { at } : at === 'before' ? {} : { effect: 'after_timeout', after: '30s' }
  if (outcome === 'fault') return { fault, ...runs }
  if (outcome === 'status' || !hasSteps(operation))
    return { respond: { status: /^\d+$/.test(status) ? Number(status) : status }, ...runs }
  const [noun, statuses] = STEP_STATUSES[operation]
  const known: readonly string[] = statuses
  const last = known.includes(end) ? end : statuses[0]
  const first = { status: statuses[0] }
  if (last === first.status) return { [noun]: [first] }
  // A KYC record or a bank account can have its final status from the start. A payment always starts as PENDING.
  if (after === '' && noun !== 'transaction') return { [noun]: [{ status: last }] }
  return { [noun]: [first, { status: last, after: after || '0s' }] }
}

/** A short form that pushes a rule. With `of`, the rule is for these calls, and `children` choose them. */
export function RuleForm({
  of,
  onDone,
  children,
}: {
  of?: { operation: string; more: object }
  onDone?: () => void
  children?: ComponentChildren
}) {
  const { fields: form, field } = useFields({
    ...START,
    ...(of && { operation: of.operation }),
  })
  const [isOnce, setOnce] = useState(true)
  const { operation, outcome } = form
  const isCreating = CREATING.some((name) => name === operation)
  const outcomes = OUTCOMES.filter(
    ([name]) => (name !== 'steps' || hasSteps(operation)) && (name !== 'lag' || isCreating),
  )
  const shown = outcomes.some(([name]) => name === outcome) ? outcome : 'status'
  const runs = RUNS.filter(([name]) => name !== 'after_timeout' || isCreating)
  const at = runs.some(([name]) => name === form.at) ? form.at : 'before'
  const call = callOf('pushRule', {
    body: {
      when: { operation, ...of?.more },
      ...(isOnce && { times: 1 }),
      then: thenOf({ ...form, outcome: shown, at }),
    },
  })
  return (
    <Form>
      {children ?? <Choice label="When" {...field('operation')} values={['*', ...OPERATIONS]} />}
      <Choice label="Then" {...field('outcome')} value={shown} values={outcomes} />
      {shown === 'status' && <Input label="Status" {...field('status')} />}
      {(shown === 'delay' || shown === 'lag') && <Input label="Delay" {...field('delay')} />}
      {shown === 'fault' && <Choice label="Fault" {...field('fault')} values={FAULTS} />}
      {(shown === 'fault' || shown === 'status') && (
        <Choice label="The operation" {...field('at')} value={at} values={runs} />
      )}
      {shown === 'steps' && hasSteps(operation) && (
        <>
          <Choice label="Status" {...field('end')} values={STEP_STATUSES[operation][1]} />
          <Input label="After (5s, 1d)" {...field('after')} />
        </>
      )}
      <Check label="once" checked={isOnce} onChange={setOnce} />
      <Act
        submit
        label="Push the rule"
        call={call}
        effect="The rule is active."
        {...(onDone && { onDone })}
      />
    </Form>
  )
}

/** The form for a rule, and the list of the pushed rules. */
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
              quiet
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
