// What happens in the client's world, as it happens: the admin API's event stream, read without end.
import type { StreamKind } from '../model/feed-kinds.ts'
import { BASE, beUnsure, CallError, GONE, onMade, request } from './api.ts'

/**
 * Those of the stream, and two of the page: `back`, the connection was lost and is there again; `look`, something may
 * have changed of which the stream does not tell. On `gap` something may have been missed, so all is read again.
 */
export type Kind = StreamKind | 'back' | 'look'
export type State = 'connecting' | 'live' | 'lost' | 'deleted'
type Told = (kind: Kind, data: unknown) => void

const RETRY_MS = 1_000
const MAX_RETRY_MS = 10_000
// The stream has a comment every 15 s; after two that did not come, nobody is there.
const MAX_SILENCE_MS = 35_000

const listeners = new Set<Told>()
const watchers = new Set<(state: State) => void>()
let state: State = 'connecting'
let lastEventId: string | undefined

/** Hands over each event until the answered verb is called. */
export function listen(told: Told): () => void {
  listeners.add(told)
  return () => void listeners.delete(told)
}

/** Hands over the connection's state, now and when it changes. */
export function watchState(watcher: (state: State) => void): () => void {
  watchers.add(watcher)
  watcher(state)
  return () => void watchers.delete(watcher)
}

function setState(next: State) {
  if (next === state) return
  state = next
  for (const watcher of watchers) watcher(state)
}

function tell(kind: Kind, data: unknown) {
  for (const told of [...listeners]) told(kind, data)
}

/** One event of the stream: lines up to an empty one. */
function takeEvent(text: string) {
  let kind: string | undefined
  const data: string[] = []
  let id: string | undefined
  for (const line of text.split('\n')) {
    const at = line.indexOf(':')
    if (at <= 0) continue
    const value = line.slice(at + 1).replace(/^ /, '')
    const field = line.slice(0, at)
    if (field === 'id') id = value
    else if (field === 'event') kind = value
    else if (field === 'data') data.push(value)
  }
  // Told first: what fails while it is told is asked for again.
  if (kind !== undefined) tell(kind as Kind, data.length > 0 ? JSON.parse(data.join('\n')) : null)
  if (id !== undefined) lastEventId = id
  // A comment alone: a good moment to look after what no event tells of.
  if (text.startsWith(':')) tell('look', null)
}

async function readStream() {
  const silence = new AbortController()
  let timer: number | undefined
  function heard() {
    clearTimeout(timer)
    timer = window.setTimeout(() => silence.abort(), MAX_SILENCE_MS)
  }
  try {
    heard()
    const isFirst = lastEventId === undefined
    const response = await request('/events', {
      headers: isFirst ? {} : { 'last-event-id': lastEventId! },
      signal: silence.signal,
    })
    setState('live')
    // What happened between the page's first look and this moment is in no event; what failed meanwhile is tried again.
    tell(isFirst ? 'gap' : 'back', null)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      heard()
      const parts = (rest + value).split('\n\n')
      rest = parts.pop()!
      for (const part of parts) takeEvent(part)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Looks after what no event tells of when the page is looked at again, and when another tab has made a call. */
function watchOthers() {
  const look = () => tell('look', null)
  addEventListener('focus', look)
  const tabs = new BroadcastChannel('payout-sandbox')
  tabs.onmessage = look
  onMade(() => tabs.postMessage(null))
}

let goOn = () => {}

/** Connects at once where that is waited for. */
export const reconnect = () => goOn()

/** Reads the stream for as long as the page is open; a lost connection is taken up where it broke off. */
export async function stayConnected(): Promise<never> {
  watchOthers()
  for (let wait = RETRY_MS; ; ) {
    const began = performance.now()
    let next: State = 'lost'
    try {
      await readStream()
    } catch (error) {
      const status = error instanceof CallError ? error.status : 0
      if (status === GONE) next = 'deleted'
      else if (status !== 0) console.warn(BASE, (error as Error).message)
    }
    setState(next)
    beUnsure()
    wait = performance.now() - began > MAX_RETRY_MS ? RETRY_MS : Math.min(wait, MAX_RETRY_MS)
    await new Promise<void>((resolve) => {
      goOn = resolve
      setTimeout(resolve, wait)
    })
    wait *= 1.5
  }
}
