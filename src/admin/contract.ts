// The types of the admin calls, from the schemas of their routes; types only, so that a client loads none of the routes.

import type { AdminCallId } from '../model/admin-routes.ts'
import type { ADMIN_CALLS } from '../routes/admin/admin-calls.ts'

type TypesOf<Id extends AdminCallId> = NonNullable<
  Extract<(typeof ADMIN_CALLS)[number], { id: Id }>['types']
>

export type CallParams<Id extends AdminCallId> = TypesOf<Id>['params']
export type CallQuery<Id extends AdminCallId> = TypesOf<Id>['query']
export type CallBody<Id extends AdminCallId> = TypesOf<Id>['body']
export type ResponseBody<Id extends AdminCallId> = TypesOf<Id>['response']

/** The arguments of a call; which of them a call needs depends on the call. */
export type CallArguments<Id extends AdminCallId> = {
  params?: CallParams<Id>
  query?: CallQuery<Id>
  body?: CallBody<Id>
}

/** Fields whose values only the sandbox validates, such as those of a command line or a form. */
type Unchecked<T> = { [Field in keyof T]?: unknown }

/** The arguments of a call, with unchecked values. */
export type UncheckedArguments<Id extends AdminCallId> = {
  params?: CallParams<Id>
  query?: Unchecked<CallQuery<Id>>
  body?: Unchecked<CallBody<Id>> | undefined
}

/** Makes a call of the admin API. */
export type AdminApi = <Id extends AdminCallId>(
  id: Id,
  args?: UncheckedArguments<Id>,
) => Promise<ResponseBody<Id>>
