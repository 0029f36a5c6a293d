import { listOrder } from '../assumptions/lists.ts'
import { duplicateUser } from '../assumptions/users.ts'
import { SandboxError } from '../model/errors.ts'
import { quoteField, quoteInput } from '../model/mask.ts'
import type { ListQuery } from '../model/paging.ts'
import { type CreateUser, mobileKey, type UserRow } from '../model/user.ts'
import { isVisible, listPage, visibleRows, withLag } from '../tables/list-page.ts'
import { entryIn, newIdIn, notFound, type WorldContext } from '../tables/world-context.ts'

/** Users; their e-mail and mobile are unique in the client unless a reading says otherwise. */
export function createUsers({ store, clock, random, events, assumed }: WorldContext) {
  const { users } = store.tables

  /** Returns a user or throws `not_found`; `field` is the body field of the id, if the id is in a body. */
  const get = (id: string, field?: string) => entryIn(users, 'user', id, field)

  function rejectDuplicates({ email, mobile }: CreateUser) {
    if (assumed.get(duplicateUser) === 'allowed') return
    const unique = [
      ['email', email, email.toLowerCase()],
      ['mobile', mobile, mobileKey(mobile)],
    ] as const
    const errors = unique.flatMap(([field, sent, key]) => {
      const other = users.newest(field, key)
      const message = `The ${field} ${quoteField(sent, field)} belongs to user ${other?.id}.`
      return other ? [{ field, code: 'duplicate', message }] : []
    })
    const [first] = errors
    const advice = 'Use another one, or read that user.'
    if (first) throw new SandboxError('user_exists', `${first.message} ${advice}`, { errors })
  }

  return {
    get,
    /** Returns a user as a read finds it, or throws `not_found`. */
    read(id: string) {
      const row = users.get(id)
      if (row && !isVisible(row, clock)) throw notFound('user', quoteInput(id))
      return get(id)
    },
    check: rejectDuplicates,
    create: (input: CreateUser, lag?: number) =>
      store.change(() => {
        rejectDuplicates(input)
        const { email, mobile, user_type } = input
        const now = clock.iso()
        const row: UserRow = {
          user_id: newIdIn(users, random.uuid),
          user_type,
          email,
          mobile,
          pid: null,
          tid: null,
          bank_id: null,
          created_at: now,
          updated_at: now,
        }
        const entry = store.put('users', withLag(row, lag, clock))
        events.emit('user.created', entry.id)
        return entry
      }),
    /** Sets the ids of the verified KYC records and bank account on a user. */
    link(id: string, links: Partial<Pick<UserRow, 'pid' | 'tid' | 'bank_id'>>) {
      store.put('users', { ...get(id).row, ...links, updated_at: clock.iso() })
    },
    list: (query: ListQuery) =>
      listPage(visibleRows(users, clock), 'all', 'all', query, assumed.get(listOrder)),
  }
}

export type Users = ReturnType<typeof createUsers>
