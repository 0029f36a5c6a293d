import { duplicateUser } from '../assumptions/identity.ts'
import { listOrder } from '../assumptions/lists.ts'
import { type FieldError, SandboxError } from '../model/errors.ts'
import { quoteField, quoteInput } from '../model/mask.ts'
import type { ListQuery } from '../model/paging.ts'
import { type CreateUser, mobileKey, type UserRow } from '../model/user.ts'
import { listPage } from '../tables/list-page.ts'
import { newIdIn } from '../tables/resources.ts'
import { notFound, type WorldContext } from '../tables/world-context.ts'

/** Users; their e-mail and mobile are unique in the client unless a reading says otherwise. */
export function createUsers({ store, clock, random, events, assumed }: WorldContext) {
  const { users } = store.tables

  /** Returns a user or throws `not_found`; `field` is the body field of the id, if the id is in a body. */
  function get(id: string, field?: string) {
    const entry = users.entry(id)
    if (!entry) throw notFound('user', quoteInput(id), field)
    return entry
  }

  function rejectDuplicates({ email, mobile }: CreateUser) {
    const errors: FieldError[] = []
    const checkUnique = (field: 'email' | 'mobile', key: string, sent: string) => {
      const other = users.newest(field, key)
      const message =
        other && `The ${field} ${quoteField(sent, field)} belongs to user ${other.id}.`
      if (message) errors.push({ field, code: 'duplicate', message })
    }
    checkUnique('email', email.toLowerCase(), email)
    checkUnique('mobile', mobileKey(mobile), mobile)
    const [first] = errors
    if (first)
      throw new SandboxError(
        'user_exists',
        `${first.message} Use another one, or read that user.`,
        { errors },
      )
  }

  return {
    get,
    create: (input: CreateUser) =>
      store.change(() => {
        if (assumed.get(duplicateUser).isRefused) rejectDuplicates(input)
        const { email, mobile, user_type } = input
        const now = clock.iso()
        const entry = store.put('users', {
          user_id: newIdIn(users, random.uuid),
          user_type,
          email,
          mobile,
          pid: null,
          tid: null,
          bank_id: null,
          created_at: now,
          updated_at: now,
        })
        events.emit('user.created', entry.id)
        return entry
      }),
    /** Sets the ids of the verified KYC records and bank account on a user. */
    link(id: string, links: Partial<Pick<UserRow, 'pid' | 'tid' | 'bank_id'>>) {
      store.put('users', { ...get(id).row, ...links, updated_at: clock.iso() })
    },
    /** One page of all users. */
    list: (query: ListQuery, first = assumed.get(listOrder)) =>
      listPage(users, 'all', 'all', query, first),
  }
}

export type Users = ReturnType<typeof createUsers>
