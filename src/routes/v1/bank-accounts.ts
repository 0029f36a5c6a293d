// routes/v1/: the endpoints of the service, as the contract has them. They check and change a world, which has the logic;
// operations.ts puts the lists together.

import { unknownId } from '../../assumptions/responses.ts'
import { operation } from '../../http/operation.ts'
import {
  AddBankAccount,
  AddBankAccountResponse,
  ListBankAccountsResponse,
} from '../../model/bank-account.ts'
import { success } from '../../model/paging.ts'
import { UserPath } from './users.ts'

export const bankAccountOperations = [
  operation({
    id: 'addBankAccount',
    tag: 'Bank accounts',
    summary: 'Add a bank account of a user, and verify it',
    description:
      'If the bank rejects the account, the response is still 201, and the account has bank_status failed.',
    body: AddBankAccount,
    status: 201,
    response: AddBankAccountResponse,
    errors: ['bank_account_exists'],
    check: ({ payouts: { bankAccounts } }, { body }) => bankAccounts.check(body),
    handle({ payouts: { bankAccounts, views } }, { body }, { bank, visible_after_ms: lag }) {
      const { status, message, row, metadata } = bankAccounts.add(body, bank, lag)
      const data = views.addedBankAccount(row, { metadata })
      return success(201, 'Bank account processed successfully', { status, message, data })
    },
  }),
  operation({
    id: 'listBankAccounts',
    tag: 'Bank accounts',
    summary: 'Read the bank accounts of a user, newest first',
    params: UserPath,
    response: ListBankAccountsResponse,
    handle({ scenarios, payouts }, { params }) {
      const { bankAccounts, users, views } = payouts
      if (scenarios.assumptions.get(unknownId) !== 'empty') users.read(params.userId)
      const found = bankAccounts.ofUser(params.userId).map(views.bankAccount)
      return success(200, 'Bank accounts fetched successfully', found)
    },
  }),
]
