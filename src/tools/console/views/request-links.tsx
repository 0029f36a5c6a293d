// What a logged request made, and a rule for requests like it.
import { useState } from 'preact/hooks'
import type { LoggedRequest } from '../api.ts'
import { Choice } from '../fields.tsx'
import { Card } from '../ui.tsx'
import { RuleForm } from './rule-form.tsx'

type Json = { readonly [name: string]: Json } | readonly Json[] | string | number | null | undefined

/** Returns the value at a path of a response, which a rule may have replaced by anything. */
const valueAt = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce((at: Json, name) => (at as Record<string, Json> | undefined)?.[name], value as Json)

/** The view and the place of the id in the response of each operation that makes something. */
const MAKERS: Readonly<Record<string, readonly [view: string, ...path: (string | number)[]]>> = {
  createTransaction: ['payments', 'data', 0, 'transaction_id'],
  createUser: ['users', 'data', 'user_id'],
  addBankAccount: ['users', 'data', 'data', 'user_id'],
  submitKyc: ['users', 'data', 0, 'data', 'user_id'],
}
const NOUNS: Readonly<Record<string, string>> = {
  createTransaction: 'a payment',
  createUser: 'a user',
  addBankAccount: 'a bank account of a user',
  submitKyc: 'a KYC record of a user',
}

/** Says what a request made, with a link. */
export function Made({ call }: { call: LoggedRequest }) {
  const { operation, response, made, reference_id: reference } = call
  const [view, ...path] = MAKERS[operation ?? ''] ?? []
  if (view === undefined) return <>nothing: it reads or changes</>
  const id = valueAt(made ?? response, ...path)
  if (typeof id === 'string') return <a href={`#/${view}/${id}`}>{NOUNS[operation!]}</a>
  if (call.status !== null && call.status >= 400) return <>nothing: the call was rejected</>
  if (reference === null) return <>the response has no id</>
  return (
    <>
      the response has no id:{' '}
      <a href={`#/payments?${new URLSearchParams({ search: reference })}`}>
        payments with the reference {reference}
      </a>
    </>
  )
}

// The log masks numbers of accounts and documents, and secrets: no call has such a value.
const MASKED = /X{3}/

/** The fields of the body that a rule can compare, as JSON. */
const fieldsOf = ({ body }: LoggedRequest): [name: string, value: unknown][] =>
  Object.entries((body ?? {}) as object).filter(
    ([, value]) => typeof value === 'number' || (typeof value === 'string' && !MASKED.test(value)),
  )

/** A form that pushes a rule for later calls like this one. */
export function RuleOfRequest({ call }: { call: LoggedRequest }) {
  const { operation, status } = call
  const fields = fieldsOf(call)
  // A call that made a payment has used its reference up: the next one with it may be refused before rules act.
  const isOpen = status === null || status >= 400
  const [field, setField] = useState(
    isOpen && fields.some(([name]) => name === 'reference_id') ? 'reference_id' : '',
  )
  if (operation === null) return null
  const value = fields.find(([name]) => name === field)?.[1]
  return (
    <Card title="Make a rule of it" wide>
      <RuleForm
        of={{ operation, more: value === undefined ? {} : { body: { [field]: value } } }}
        onDone={() => {
          location.hash = '#/trouble'
        }}
      >
        <Choice
          label="For calls"
          value={field}
          values={[
            ['', `all of ${operation}`],
            ...fields.map(([name, one]) => [name, `${name} is ${one}`] as const),
          ]}
          onInput={setField}
        />
      </RuleForm>
    </Card>
  )
}
