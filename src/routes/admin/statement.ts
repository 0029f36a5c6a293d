import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import { Books, DAYS, type Days, Reconciliation, Statement } from '../../model/statement.ts'
import { validationFailed } from '../../model/validation-errors.ts'
import { statementOf } from '../../payouts/statement.ts'

function checkDays({ date, from, to }: Days) {
  const reject = (field: string, message: string) => {
    throw validationFailed([{ field, code: 'invalid_value', message }])
  }
  if (date !== undefined && (from ?? to) !== undefined)
    reject('date', 'cannot be combined with from or to')
  if (from !== undefined && to !== undefined && from > to)
    reject('from', `must not be after to; found ${from} and ${to}`)
}

export const statementCalls = [
  adminCall({
    id: 'getStatement',
    summary: "Return the bank's statement of a day in India, or of several",
    query: z.object({
      ...DAYS,
      truth: z.enum(['', 'true', 'false']).optional().meta({
        description: 'Adds the statement as it would be without rules of the scenario.',
      }),
    }),
    response: Statement,
    handle({ tables, scenarios }, { query: { truth = 'false', ...days } }) {
      checkDays(days)
      return statementOf(tables, scenarios.statementRules(), days, truth !== 'false')
    },
  }),
  adminCall({
    id: 'reconcile',
    summary: 'Compare your books with what happened, or with a statement',
    description:
      'Rows have a reference or a transaction_id, and an amount. With `date`, `from` or `to` they are compared with the statement of these days, with `statement` with the rows of another one, otherwise with what really happened.',
    large: true,
    body: Books,
    response: Reconciliation,
    handle(world, { body: { rows, statement, ...days } }, { reconcile }) {
      checkDays(days)
      const hasDays = Object.values(days).some((day) => day !== undefined)
      const { tables, scenarios } = world
      const told =
        statement ??
        (hasDays ? statementOf(tables, scenarios.statementRules(), days).rows : undefined)
      return reconcile!(world, rows, told, days)
    },
  }),
]
