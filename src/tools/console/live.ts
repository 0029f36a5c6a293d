// Reads the event stream of the admin API: everything that happens in the client's world.
import type { StreamKind } from '../../model/feed-kinds.ts'
import { BASE, type CallEvent, callOf, checkClientFirst, GONE, request } from './api.ts'
import { useWatched } from './route.ts'
import { CallError } from './service.ts'

/** The kinds of stream events, and three of the page. `sent`: a call of it had its response; `recheck`: something without an event may differ. */
export type Kind = StreamKind | 'reconnected' | 'sent' | 'recheck'
/** `locked`: the user gave no admin token. */
export type State = 'connecting' | 'live' | 'lost' | 'locked' | 'deleted'
type EventListener = (kind: Kind, data: unknown) => void

const RETRY_MS = 1_000
const MAX_RETRY_MS = 10_000
// The stream sends a comment every 15 s; if two are missing, the connection is lost.
const MAX_SILENCE_MS = 35_000

const listeners = new Set<EventListener>()
let state: State = 'connecting'
let lastEventId: string | undefined

export function listen(listener: EventListener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useConnection = () => useWatched(window, 'connection', () => state)

function setState(next: State) {
  state = next
  dispatchEvent(new Event('connection'))
}

function publish(kind: Kind, data: unknown) {
  for (const listener of [...listeners]) listener(kind, data)
}

/** Publishes one event of the stream. `text` is its lines, each with another field. */
function publishEvent(text: string) {
  const [id, kind, data = 'null'] = ['id', 'event', 'data'].map(
    (field) => new RegExp(`^${field}: ?(.*)$`, 'm').exec(text)?.[1],
  )
  // Publish before the id is stored, so that an event whose listener fails is requested again.
  if (kind !== undefined) publish(kind as Kind, JSON.parse(data))
  if (id !== undefined) lastEventId = id
  // A comment arrives regularly, so it also triggers a check for changes that have no event.
  if (text.startsWith(':')) publish('recheck', null)
}

async function readStream() {
  const silence = new AbortController()
  let timer: number | undefined
  function restartSilence() {
    clearTimeout(timer)
    timer = window.setTimeout(() => silence.abort(), MAX_SILENCE_MS)
  }
  try {
    restartSilence()
    const isFirst = lastEventId === undefined
    const response = await request(callOf('streamEvents').path, {
      headers: isFirst ? {} : { 'last-event-id': lastEventId! },
      signal: silence.signal,
    })
    setState('live')
    // Changes between the first read of the page and now have no event; failed reads are repeated.
    publish(isFirst ? 'gap' : 'reconnected', null)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      restartSilence()
      const parts = (rest + value).split('\n\n')
      rest = parts.pop()!
      for (const part of parts) publishEvent(part)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Checks for changes without events when the page gets the focus, and when this or another tab has sent a call. */
function watchFocusAndTabs() {
  const recheck = () => publish('recheck', null)
  addEventListener('focus', recheck)
  const tabs = new BroadcastChannel('payout-sandbox')
  tabs.onmessage = recheck
  addEventListener('call', (event) => {
    if ((event as CallEvent).detail.status === undefined) return
    publish('sent', null)
    tabs.postMessage(null)
  })
}

let retryNow = () => {}

export const reconnect = () => retryNow()

/** Reads the stream while the page is open; after a lost connection it resumes at the last event. */
export async function stayConnected(): Promise<never> {
  watchFocusAndTabs()
  for (let wait = RETRY_MS; ; ) {
    const startedAt = performance.now()
    let next: State = 'lost'
    try {
      await readStream()
    } catch (error) {
      const status = error instanceof CallError ? error.status : 0
      if (status === GONE) next = 'deleted'
      else if (status === 401) next = 'locked'
      else if (status !== 0) console.warn(BASE, (error as Error).message)
    }
    setState(next)
    checkClientFirst()
    wait = performance.now() - startedAt > MAX_RETRY_MS ? RETRY_MS : Math.min(wait, MAX_RETRY_MS)
    await new Promise<void>((resolve) => {
      retryNow = resolve
      setTimeout(resolve, wait)
    })
    wait *= 1.5
  }
}
