import * as z from 'zod'
import { operation } from '../../http/operation.ts'
import { Uuid } from '../../model/formats.ts'
import { success } from '../../model/paging.ts'
import {
  CreateUser,
  CreateUserResponse,
  GetUserResponse,
  ListUsersResponse,
  UserQuery,
} from '../../model/user.ts'
import { checkPage } from './check-page.ts'

export const UserPath = z.object({ userId: Uuid })

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
      checkPage(world, query, total)
      const { page, limit } = query
      const users = entries.map(world.payouts.views.user)
      return success(200, 'Users fetched successfully', { total_users: total, page, limit, users })
    },
  }),
]
