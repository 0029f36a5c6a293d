// Hooks that update the data of a view when the server's data changes.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ResponseBody } from '../../admin/contract.ts'
import type { AdminCallId } from '../../model/admin-routes.ts'
import { type Call, callOf, read } from './api.ts'
import { type Kind, listen } from './live.ts'
import type { CallError } from './service.ts'

// Events arrive in bursts; a view is read again this long after the first event of a burst, ms.
const BURST_MS = 150
const ALWAYS: readonly Kind[] = ['gap', 'reconnected', 'reset', 'restore']

/** Runs a function shortly (`wait`, ms) after an event of these kinds, but never while the last run is pending. */
export function useEvents(
  kinds: readonly Kind[],
  run: () => Promise<unknown>,
  wait: number = BURST_MS,
) {
  const latest = useRef(run)
  latest.current = run
  const wanted = kinds.join()
  useEffect(() => {
    let timer: number | undefined
    let isBusy = false
    let isStale = false
    async function runNow() {
      timer = undefined
      isBusy = true
      await latest.current()
      isBusy = false
      if (!isStale) return
      isStale = false
      schedule()
    }
    function schedule() {
      // The response may not contain changes that happen while it is read.
      if (isBusy) isStale = true
      else timer ??= window.setTimeout(() => void runNow(), wait)
    }
    const stop = listen((kind) => {
      if (wanted.split(',').includes(kind) || ALWAYS.includes(kind)) schedule()
    })
    return () => {
      stop()
      isStale = false
      clearTimeout(timer)
    }
  }, [wanted])
}

/** The message of a failed read; none if the sandbox is gone, because the banner of the page says so. */
const problemOf = (error: unknown): string | undefined =>
  (error as CallError).status === 0 ? undefined : (error as Error).message

export type Loaded<T> = {
  data: T | undefined
  problem: string | undefined
  reload: () => Promise<void>
}

/** Returns the response of a GET call, and reads it again after events of these kinds. Ignores late responses for an earlier path. */
export function useLoaded<Id extends AdminCallId>(
  call: Call<Id>,
  kinds: readonly Kind[],
  wait?: number,
): Loaded<ResponseBody<Id>> {
  type T = ResponseBody<Id>
  const { path } = call
  const [loaded, setLoaded] = useState<{ path: string; data?: T; problem?: string | undefined }>({
    path,
  })
  const lastRead = useRef(0)
  const reload = useCallback(async () => {
    const thisRead = ++lastRead.current
    try {
      const data = await read(call)
      if (thisRead === lastRead.current) setLoaded({ path, data })
    } catch (error) {
      const problem = problemOf(error)
      // Keep showing the data that was read before.
      if (thisRead === lastRead.current)
        setLoaded((before) => ({ ...(before.path === path && before), path, problem }))
    }
  }, [path])
  useEffect(() => void reload(), [reload])
  useEvents(kinds, reload, wait)
  const isOfPath = loaded.path === path
  return {
    data: isOfPath ? loaded.data : undefined,
    problem: isOfPath ? loaded.problem : undefined,
    reload,
  }
}

const PAGE = 50

export type Pages<T> = {
  total: number | undefined
  problem: string | undefined
  /** Returns the row at an index, if it is loaded. */
  at: (index: number) => T | undefined
  /** Loads these rows if necessary; the same function at every render. */
  want: (from: number, to: number) => void
}

/** The calls that return a list in pages. */
export type ListId = 'readUsers' | 'readTransactions' | 'listDeliveries'
/** Its only array has its rows. */
type Page = { total: number }

/** Creates the cache of the pages of one list. */
function createPages<T>(
  path: string,
  readPage: (page: number) => Promise<Page>,
  redraw: () => void,
) {
  const pages = new Map<number, readonly T[]>()
  // Failed pages stay in this set, so that they are not requested again until something else changes.
  const requested = new Set<number>()
  const failed = new Set<number>()
  let visible: readonly [number, number] = [1, 1]
  let version = 0

  /** Reads pages and shows them together, because pages read before and after a new row do not fit together. */
  async function load(wanted: readonly number[]) {
    const startVersion = version
    for (const page of wanted) requested.add(page)
    const responses = await Promise.allSettled(wanted.map(readPage))
    if (startVersion !== version) return
    for (const [i, response] of responses.entries()) {
      const page = wanted[i]!
      if (response.status === 'fulfilled') {
        pages.set(page, Object.values<unknown>(response.value).find(Array.isArray) ?? [])
        list.total = response.value.total
        list.problem = undefined
      } else {
        failed.add(page)
        list.problem = problemOf(response.reason)
      }
    }
    redraw()
  }

  async function loadVisible() {
    const [from, to] = visible
    const wanted = Array.from({ length: to - from + 1 }, (_, i) => from + i)
    const fresh = wanted.filter((page) => !requested.has(page))
    if (fresh.length > 0) await load(fresh)
  }

  const list = {
    path,
    total: undefined as number | undefined,
    problem: undefined as string | undefined,
    at: (index: number) => pages.get(pageOf(index))?.[index % PAGE],
    want(from: number, to: number) {
      const next = [pageOf(from), pageOf(Math.max(to - 1, from))] as const
      if (next.join() !== visible.join()) {
        for (const page of failed) requested.delete(page)
        failed.clear()
      }
      visible = next
      void loadVisible()
    },
    /** Reads the visible pages again; the old rows stay visible until the new ones have arrived. */
    refresh() {
      version++
      requested.clear()
      failed.clear()
      for (const page of pages.keys())
        if (page < visible[0] || page > visible[1]) pages.delete(page)
      return loadVisible()
    },
    discard: () => version++,
  }
  return list
}

const pageOf = (index: number) => Math.floor(index / PAGE) + 1

/** A long list that loads only its visible pages. */
export function usePages<T>(id: ListId, filter: object, kinds: readonly Kind[]): Pages<T> {
  const [, redraw] = useState(0)
  const cache = useRef<ReturnType<typeof createPages<T>>>()
  const pageOfList = (page?: { page: number; limit: number }) =>
    callOf<ListId>(id, { query: { ...filter, ...page } })
  const { path } = pageOfList()
  if (cache.current?.path !== path) {
    cache.current?.discard()
    cache.current = createPages<T>(
      path,
      (page) => read(pageOfList({ page, limit: PAGE })),
      () => redraw((n) => n + 1),
    )
  }
  const list = cache.current
  useEffect(() => list.want(0, 1), [list])
  useEvents(kinds, list.refresh)
  return list
}
