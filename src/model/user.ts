import * as z from 'zod'
import { sandboxDefault } from './client.ts'
import { named, rowTimes, text, Uuid, VisibleAt } from './formats.ts'
import { envelope, listFields, listQuery } from './paging.ts'

const UserType = sandboxDefault(z.enum(['individual', 'business']))

/** A user as stored. `client_id` is the same for the whole world and is added to responses. */
export const UserRow = z.strictObject({
  user_id: Uuid,
  user_type: UserType,
  email: z.string(),
  mobile: z.string(),
  pid: Uuid.nullable(),
  tid: Uuid.nullable(),
  bank_id: Uuid.nullable(),
  ...rowTimes,
  visible_at: VisibleAt,
})
export type UserRow = z.infer<typeof UserRow>

/** Interface 2.1. */
export const User = named('User', {
  user_id: Uuid,
  client_id: Uuid,
  ...UserRow.omit({ user_id: true, visible_at: true }).shape,
})

const MOBILE = /^(?:\+(?!91)[1-9]\d{6,14}|(?:\+91)?[6-9]\d{9})$/

export const CreateUser = z
  .object({
    email: text(254).pipe(z.email()).meta({ format: 'email', pattern: z.regexes.email.source }),
    mobile: z.string().regex(MOBILE, {
      error:
        'must be an Indian mobile (ten digits that start with 6 to 9) or E.164 of another country',
    }),
    user_type: UserType.default('individual'),
  })
  .meta({ id: 'CreateUser' })
export type CreateUser = z.infer<typeof CreateUser>

export const UserQuery = listQuery(50)
export const CreateUserResponse = envelope('CreateUserResponse', 201, User)
export const GetUserResponse = envelope('GetUserResponse', 200, User)
export const ListUsersResponse = envelope(
  'ListUsersResponse',
  200,
  z.strictObject({ total_users: z.int(), ...listFields, users: z.array(User) }),
)

const SEPARATORS = /[ ().-]/g

/** An e-mail address as a lenient service accepts it, and as rows contain it. */
export const AnyEmail = text(254).regex(/^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/, {
  error: 'must be an e-mail address: one @, and a domain with a dot',
})

/** A mobile as a lenient service accepts it, and as rows contain it. */
export const AnyMobile = z
  .string()
  .max(40)
  .regex(/^\+?(?:[ ().-]*\d){7,15}[ )]*$/, { error: 'must have 7 to 15 digits' })

/** One spelling of a mobile, so that +91 and bare ten digits are one number. */
export const mobileKey = (mobile: string): string =>
  mobile.replaceAll(SEPARATORS, '').replace(/^(?:\+?91|0)?(?=[6-9]\d{9}$)/, '+91')
