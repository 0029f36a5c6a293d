// Hooks that keep what a view shows as new as the server's.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { read } from './api.ts'
import { type Kind, listen } from './live.ts'

// Events come in bursts; a view is read again this long after the first of one, and no more often.
const CALM_MS = 150
const ALWAYS: readonly Kind[] = ['gap', 'back', 'reset', 'restore']

/** Runs a function a moment after an event of these kinds, and not again before its promise is kept. */
export function useEvents(kinds: readonly Kind[], run: () => Promise<unknown>) {
  const latest = useRef(run)
  latest.current = run
  const wanted = kinds.join()
  useEffect(() => {
    let timer: number | undefined
    let isBusy = false
    let isStale = false
    async function look() {
      timer = undefined
      isBusy = true
      await latest.current()
      isBusy = false
      if (!isStale) return
      isStale = false
      plan()
    }
    function plan() {
      // What comes while it is read may not be in the answer.
      if (isBusy) isStale = true
      else timer ??= window.setTimeout(() => void look(), CALM_MS)
    }
    const stop = listen((kind) => {
      if (wanted.split(',').includes(kind) || ALWAYS.includes(kind)) plan()
    })
    return () => {
      stop()
      isStale = false
      clearTimeout(timer)
    }
  }, [wanted])
}

export type Loaded<T> = {
  data: T | undefined
  problem: string | undefined
  reload: () => Promise<void>
}

/** What a call answers, read again after events of these kinds. What comes late for another path is dropped. */
export function useLoaded<T>(path: string, kinds: readonly Kind[]): Loaded<T> {
  const [loaded, setLoaded] = useState<{ path: string; data?: T; problem?: string }>({ path })
  const turn = useRef(0)
  const reload = useCallback(async () => {
    const mine = ++turn.current
    try {
      const data = await read<T>(path)
      if (mine === turn.current) setLoaded({ path, data })
    } catch (error) {
      const problem = (error as Error).message
      // What was read before is still worth a look.
      if (mine === turn.current)
        setLoaded((before) => ({ ...(before.path === path && before), path, problem }))
    }
  }, [path])
  useEffect(() => void reload(), [reload])
  useEvents(kinds, reload)
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
  /** The row of a place in the list, if it is there already. */
  at: (index: number) => T | undefined
  /** Sees to it that these rows come; the same function at every render. */
  want: (from: number, to: number) => void
}

/** The pages of one list that were read, and what may be asked for next. */
function createPages<T>(path: string, rows: string, redraw: () => void) {
  const pages = new Map<number, readonly T[]>()
  // What failed stays in here, so that it is not asked for again until something else has changed.
  const asked = new Set<number>()
  const failed = new Set<number>()
  let seen: readonly [number, number] = [1, 1]
  let turn = 0

  const ask = (page: number) =>
    read<Record<string, unknown>>(
      `${path}${path.includes('?') ? '&' : '?'}page=${page}&limit=${PAGE}`,
    )

  /** Reads pages and shows them together: what was read before and after a row came does not fit. */
  async function load(wanted: readonly number[]) {
    const mine = turn
    for (const page of wanted) asked.add(page)
    const answers = await Promise.allSettled(wanted.map(ask))
    if (mine !== turn) return
    for (const [i, answer] of answers.entries()) {
      const page = wanted[i]!
      if (answer.status === 'fulfilled') {
        pages.set(page, answer.value[rows] as T[])
        list.total = answer.value['total'] as number
        list.problem = undefined
      } else {
        failed.add(page)
        list.problem = (answer.reason as Error).message
      }
    }
    redraw()
  }

  async function loadSeen() {
    const [from, to] = seen
    const wanted = Array.from({ length: to - from + 1 }, (_, i) => from + i)
    const fresh = wanted.filter((page) => !asked.has(page))
    if (fresh.length > 0) await load(fresh)
  }

  const list = {
    path,
    total: undefined as number | undefined,
    problem: undefined as string | undefined,
    at: (index: number) => pages.get(pageOf(index))?.[index % PAGE],
    want(from: number, to: number) {
      const next = [pageOf(from), pageOf(Math.max(to - 1, from))] as const
      if (next.join() !== seen.join()) {
        for (const page of failed) asked.delete(page)
        failed.clear()
      }
      seen = next
      void loadSeen()
    },
    /** Reads anew what is seen; the old rows stay in sight until the new ones are there. */
    refresh() {
      turn++
      asked.clear()
      failed.clear()
      for (const page of pages.keys()) if (page < seen[0] || page > seen[1]) pages.delete(page)
      return loadSeen()
    },
    drop: () => turn++,
  }
  return list
}

const pageOf = (index: number) => Math.floor(index / PAGE) + 1

/** A long list of which only the pages that are looked at are read; `rows` is the name of the list in the answer. */
export function usePages<T>(path: string, rows: string, kinds: readonly Kind[]): Pages<T> {
  const [, redraw] = useState(0)
  const kept = useRef<ReturnType<typeof createPages<T>>>()
  if (kept.current?.path !== path) {
    kept.current?.drop()
    kept.current = createPages<T>(path, rows, () => redraw((n) => n + 1))
  }
  const list = kept.current
  useEffect(() => list.want(0, 1), [list])
  useEvents(kinds, list.refresh)
  return list
}
