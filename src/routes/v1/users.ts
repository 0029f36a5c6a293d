import * as z from 'zod'
import { operation } from '../../http/operation.ts'
import { successText } from '../../model/envelope-text.ts'
import { Uuid } from '../../model/formats.ts'
import { json, listText } from '../../model/json-text.ts'
import {
  CreateUser,
  CreateUserResponse,
  GetUserResponse,
  ListUsersResponse,
  UserQuery,
} from '../../model/user.ts'
import { checkPage } from './check-page.ts'

/** The path parameters of endpoints for one user. */
export const UserPath = z.object({ userId: Uuid })

/** The endpoints that create, read and list users. */
export const userOperations = [
  operation({
    id: 'createUser',
    tag: 'Users',
    summary: 'Create a user',
    body: CreateUser,
    status: 201,
    response: CreateUserResponse,
    errors: ['user_exists'],
    handle: ({ users, views }, { body }) =>
      successText(201, 'User created successfully', views.user(users.create(body))),
  }),
  operation({
    id: 'getUser',
    tag: 'Users',
    summary: 'Read one user',
    params: UserPath,
    status: 200,
    response: GetUserResponse,

    handle: ({ users, views }, { params }) =>
      successText(200, 'User fetched successfully', views.user(users.get(params.userId))),
  }),
  operation({
    id: 'listUsers',
    tag: 'Users',
    summary: 'List users, newest first',
    query: UserQuery,
    status: 200,
    response: ListUsersResponse,

    handle(world, { query }) {
      const { users, views } = world
      const { total, entries } = users.list(query)
      checkPage(world, query, total)
      const counts = json(`"total_users":${total},"page":${query.page},"limit":${query.limit}`)
      const rows = listText(entries.map(views.user))
      return successText(200, 'Users fetched successfully', json(`{${counts},"users":${rows}}`))
    },
  }),
]
