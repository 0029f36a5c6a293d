import type { AdminCallId } from '../model/admin-routes.ts'
import { createCaller, type FailedCall, type Target } from './caller.ts'
import type { CallArguments, CallBody, CallQuery, ResponseBody } from './contract.ts'
import { readEvents } from './event-stream.ts'

type BodyArguments<T> = undefined extends T ? [body?: T] : [body: T]

/** Returns functions that make the methods of the library's client: each checks its arguments and sends one call. */
export function createTypedCalls(target: Target, errorOf: (failed: FailedCall) => Error) {
  const send = createCaller(target, errorOf)
  async function call<Id extends AdminCallId>(
    id: Id,
    args: CallArguments<Id> & { raw?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<ResponseBody<Id>> {
    // The schemas are those of the routes, which load the whole server.
    const { checkArguments } = await import('./admin-arguments.ts')
    checkArguments(id, args)
    return send(id, args)
  }
  return {
    call,
    withBody:
      <Id extends AdminCallId>(id: Id) =>
      (...[body]: BodyArguments<CallBody<Id>>): Promise<ResponseBody<Id>> =>
        call(id, { body }),
    withField:
      <Id extends AdminCallId, Field extends keyof CallBody<Id>>(id: Id, field: Field) =>
      (value: NonNullable<CallBody<Id>[Field]>): Promise<ResponseBody<Id>> =>
        call(id, { body: { [field]: value } as unknown as CallBody<Id> }),
    withQuery:
      <Id extends AdminCallId>(id: Id) =>
      (query?: CallQuery<Id>): Promise<ResponseBody<Id>> =>
        call(id, { query }),
    withId:
      <Id extends AdminCallId>(id: Id) =>
      (resourceId: string, to: CallBody<Id>): Promise<ResponseBody<Id>> =>
        call(id, { params: { id: resourceId }, body: to }),
    events: (resume: { lastEventId?: string } = {}) => readEvents(target, errorOf, resume),
  }
}
