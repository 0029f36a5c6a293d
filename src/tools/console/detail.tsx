import type { ComponentChildren } from 'preact'
import type { ResponseBody } from '../../admin/caller.ts'
import type { AdminCallId } from '../../model/admin-routes.ts'
import type { Call } from './api.ts'
import { Problem } from './ui.tsx'
import { useLoaded } from './use-data.ts'

type DetailProps<Id extends AdminCallId> = {
  list: string
  call: Call<Id>
  children: (data: ResponseBody<Id>) => ComponentChildren
}

export function Detail<Id extends AdminCallId>({ list, call, children }: DetailProps<Id>) {
  const { data, problem } = useLoaded(call)
  return (
    <>
      <p class="crumbs">
        <a href={`#/${list.toLowerCase()}`}>{list}</a>
      </p>
      <Problem text={problem} />
      {data && children(data)}
    </>
  )
}
