// Hooks that update the data of a view when the server's data changes.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ResponseBody } from '../../admin/caller.ts'
import type { AdminCallId } from '../../model/admin-routes.ts'
import { type Call, request } from './api.ts'
import { type Kind, listen } from './live.ts'
import type { CallError } from './service.ts'

// Events arrive in bursts; a view is read again this long after the first event of a burst, ms.
const BURST_MS = 150
/** A view is read again at most this often, ms. All views are read at the same moment, so that the page is redrawn only once. */
export const PACE_MS = 1_000
// After these everything is read again; after a call of this page, which may have no event of its own, immediately.
const ALWAYS: readonly Kind[] = ['gap', 'reconnected', 'reset', 'restore', 'sent']

/** Runs a function shortly after an event of these kinds, but at most once per `pace` (ms), and never while the last run is pending. */
export function useEvents(kinds: readonly Kind[], run: () => unknown, pace: number = BURST_MS) {
  const latest = useRef(run)
  latest.current = run
  const wanted = kinds.join()
  useEffect(() => {
    let timer: number | undefined
    let isBusy = false
    let isStale = false
    // The number of the beat of the last run. Views with the same pace share their beats.
    let lastBeat = 0
    const beatNow = () => Math.floor(performance.now() / pace)
    async function runNow() {
      timer = undefined
      isBusy = true
      lastBeat = beatNow()
      await latest.current()
      isBusy = false
      if (!isStale) return
      isStale = false
      schedule()
    }
    function schedule(isNow = false) {
      if (isNow) {
        clearTimeout(timer)
        timer = undefined
      }
      const isSoon = pace === BURST_MS || beatNow() > lastBeat + 1
      const wait = isSoon ? BURST_MS : pace - (performance.now() % pace)
      // The response may not contain changes that happen while it is read.
      if (isBusy) isStale = true
      else timer ??= window.setTimeout(() => void runNow(), isNow ? 0 : wait)
    }
    const stop = listen((kind) => {
      if (wanted.split(',').includes(kind) || ALWAYS.includes(kind)) schedule(kind === 'sent')
    })
    return () => {
      stop()
      isStale = false
      clearTimeout(timer)
    }
  }, [wanted])
}

/** The message of a failed read; none if the sandbox is gone, because the banner of the page says so. */
export const problemOf = (error: unknown): string | undefined =>
  (error as CallError).status === 0 ? undefined : (error as Error).message

/** The events after which a call may have another response. */
const CHANGED_BY: Readonly<Partial<Record<AdminCallId, readonly Kind[]>>> = {
  readClient: ['request', 'change', 'timer', 'delivery', 'clock', 'scenario', 'waiting', 'recheck'],
  readSummary: ['change', 'delivery', 'timer', 'request', 'clock'],
  readUsers: ['change', 'request'],
  readUser: ['change', 'request'],
  readTransactions: ['change'],
  getStatement: ['change', 'scenario', 'timer'],
  readTransaction: ['change', 'delivery', 'timer', 'request'],
  listDeliveries: ['delivery', 'change'],
  getDelivery: ['delivery'],
  listInbox: ['delivery'],
  listRequests: ['request'],
  getCoverage: ['request', 'delivery'],
  listTimers: ['timer', 'change', 'delivery', 'clock', 'scenario', 'request'],
  listScenarios: ['scenario'],
  readScenario: ['scenario', 'request', 'delivery'],
  getScenario: ['scenario', 'request', 'delivery'],
  listRules: ['scenario', 'request', 'clock', 'recheck'],
  listMagicValues: ['scenario'],
  listAssumptions: ['assumptions', 'scenario'],
  listSnapshots: ['recheck'],
  listClients: ['recheck'],
}

export type Loaded<T> = { data: T | undefined; problem: string | undefined }

/** Returns the response of a GET call, and reads it again when it may have changed. Ignores late responses for an earlier path. */
export function useLoaded<Id extends AdminCallId>(
  call: Call<Id>,
  pace: number = PACE_MS,
): Loaded<ResponseBody<Id>> {
  type T = ResponseBody<Id>
  const { path } = call
  const [loaded, setLoaded] = useState<{ path: string; text?: string } & Partial<Loaded<T>>>({
    path,
  })
  const lastRead = useRef(0)
  const reload = useCallback(async () => {
    const thisRead = ++lastRead.current
    try {
      const text = await (await request(path)).text()
      // An unchanged response redraws nothing.
      if (thisRead === lastRead.current)
        setLoaded((before) =>
          before.text === text && before.path === path && before.problem === undefined
            ? before
            : { path, text, data: JSON.parse(text) },
        )
    } catch (error) {
      const problem = problemOf(error)
      // Keep showing the data that was read before.
      if (thisRead === lastRead.current)
        setLoaded((before) => ({ ...(before.path === path && before), path, problem }))
    }
  }, [path])
  useEffect(() => void reload(), [reload])
  useEvents(CHANGED_BY[call.id] ?? [], reload, pace)
  const { data, problem }: Partial<Loaded<T>> = loaded.path === path ? loaded : {}
  return { data, problem }
}

/** Keeps a value of one `key` while the pointer or the focus is in the list, which gets `props`, and the page sends no call. */
export function useStill<T, Box extends HTMLElement = HTMLUListElement>(fresh: T, key = '') {
  const [held, setHeld] = useState<{ value: T; key: string }>()
  const box = useRef<Box>(null)
  const release = () => setHeld(undefined)
  useEvents([], release)
  const hold = () => setHeld((before) => (before?.key === key ? before : { value: fresh, key }))
  function leave({ relatedTarget: to }: MouseEvent | FocusEvent) {
    const isIn = box.current?.contains(to as Node) || box.current?.matches(':hover, :focus-within')
    if (!isIn) release()
  }
  const props = {
    ref: box,
    onMouseMove: hold,
    onFocusIn: hold,
    onMouseLeave: leave,
    onFocusOut: leave,
  }
  return { value: held?.key === key ? held.value : fresh, props, release }
}
