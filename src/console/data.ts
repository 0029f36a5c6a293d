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
  /** Sees to it that these rows come. */
  want: (from: number, to: number) => void
}

/** A long list of which only the pages that are looked at are read; `rows` is the name of the list in the answer. */
export function usePages<T>(path: string, rows: string, kinds: readonly Kind[]): Pages<T> {
  const [, redraw] = useState(0)
  const kept = useRef({
    path,
    pages: new Map<number, readonly T[]>(),
    asked: new Set<number>(),
    total: undefined as number | undefined,
    problem: undefined as string | undefined,
    seen: [1, 1] as [number, number],
    turn: 0,
  })
  const all = kept.current
  if (all.path !== path) {
    Object.assign(all, { path, pages: new Map(), asked: new Set(), total: undefined })
    all.turn++
  }

  async function load(page: number) {
    if (all.asked.has(page)) return
    all.asked.add(page)
    const mine = all.turn
    try {
      const query = `${path.includes('?') ? '&' : '?'}page=${page}&limit=${PAGE}`
      const answer = await read<Record<string, unknown>>(path + query)
      if (mine !== all.turn) return
      all.pages.set(page, answer[rows] as T[])
      all.total = answer['total'] as number
      all.problem = undefined
    } catch (error) {
      if (mine !== all.turn) return
      all.asked.delete(page)
      all.problem = (error as Error).message
    }
    redraw((n) => n + 1)
  }

  function loadSeen() {
    const loads: Promise<void>[] = []
    for (let page = all.seen[0]; page <= all.seen[1]; page++) loads.push(load(page))
    return Promise.all(loads)
  }

  useEffect(() => void loadSeen(), [path])
  useEvents(kinds, () => {
    // The old rows stay in sight until the new ones are there.
    all.turn++
    all.asked.clear()
    const [from, to] = all.seen
    for (const page of all.pages.keys()) if (page < from || page > to) all.pages.delete(page)
    return loadSeen()
  })
  return {
    total: all.total,
    problem: all.problem,
    at: (index) => all.pages.get(Math.floor(index / PAGE) + 1)?.[index % PAGE],
    want(from, to) {
      all.seen = [Math.floor(from / PAGE) + 1, Math.floor(Math.max(to - 1, from) / PAGE) + 1]
      void loadSeen()
    },
  }
}
