import * as z from 'zod'
import { unknownId } from '../../assumptions/responses.ts'
import { operation } from '../../http/endpoint.ts'
import {
  AddBankAccount,
  AddBankAccountResponse,
  ListBankAccountsResponse,
} from '../../model/bank-account.ts'
import { Uuid } from '../../model/formats.ts'
import { GetKycResponse, SubmitKyc, SubmitKycResponse } from '../../model/kyc.ts'
import { success } from '../../model/paging.ts'
import {
  CreateUser,
  CreateUserResponse,
  GetUserResponse,
  ListUsersResponse,
  UserQuery,
} from '../../model/user.ts'
import { checkPage } from '../../tables/list-page.ts'

export const UserPath = z.object({ userId: Uuid })

/** The calls about users, their KYC records and their bank accounts. */
export const userOperations = [
  operation({
    id: 'createUser',
    tag: 'Users',
    summary: 'Create a user',
    body: CreateUser,
    status: 201,
    response: CreateUserResponse,
    errors: ['user_exists'],
    check: ({ payouts: { users } }, { body }) => users.check(body),
    handle({ payouts: { users, views } }, { body }, { visible_after_ms }) {
      const user = users.create(body, visible_after_ms)
      return success(201, 'User created successfully', views.user(user))
    },
  }),
  operation({
    id: 'getUser',
    tag: 'Users',
    summary: 'Read one user',
    params: UserPath,
    response: GetUserResponse,
    handle: ({ payouts: { users, views } }, { params }) =>
      success(200, 'User fetched successfully', views.user(users.read(params.userId))),
  }),
  operation({
    id: 'listUsers',
    tag: 'Users',
    summary: 'List users, newest first',
    query: UserQuery,
    response: ListUsersResponse,
    handle(world, { query }) {
      const { total, entries } = world.payouts.users.list(query)
      checkPage(world.scenarios.assumptions, query, total)
      const { page, limit } = query
      const users = entries.map(world.payouts.views.user)
      return success(200, 'Users fetched successfully', { total_users: total, page, limit, users })
    },
  }),
  operation({
    id: 'submitKyc',
    tag: 'KYC',
    summary: 'Submit KYC documents of a user',
    description:
      'If a document fails, the response is still 201, and the record of the document has kyc_status failed.',
    body: SubmitKyc,
    status: 201,
    response: SubmitKycResponse,
    check: ({ payouts: { kyc } }, { body }) => kyc.check(body),
    handle({ payouts: { kyc, views } }, { body }, lifecycles) {
      const records = kyc
        .submit(body, lifecycles.kyc, lifecycles.visible_after_ms)
        .map(({ status, message, entry }) => ({ status, message, data: views.kyc(entry) }))
      return success(201, 'KYC processed successfully', records)
    },
  }),
  operation({
    id: 'getKyc',
    tag: 'KYC',
    summary: 'Read a user with their KYC records',
    params: UserPath,
    response: GetKycResponse,
    handle({ payouts: { users, kyc, views } }, { params }) {
      const user = [views.user(users.read(params.userId))]
      const kycData = kyc.ofUser(params.userId).map(views.kyc)
      const response = success(200, 'KYC fetched successfully', { user, kycData })
      return { status: true as const, data: { statusCode: 200 as const, response } }
    },
  }),
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
