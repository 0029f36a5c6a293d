// The client that the page shows, and its time, which continues between two responses of the server.
import { createContext } from 'preact'
import { useContext, useRef } from 'preact/hooks'
import type { Client, Clock } from './api.ts'
import { spanText } from './format.ts'
import { useConnection } from './live.ts'
import { useWatched } from './route.ts'

export const TICK_MS = 500
// One for all, so that the page is drawn once for all that show a time.
setInterval(() => dispatchEvent(new Event('tick')), TICK_MS)

const ClientContext = createContext<Client | undefined>(undefined)
export const ClientProvider = ClientContext.Provider
export const useClient = (): Client => useContext(ClientContext)!

// When the clock of each response was read, real ms.
const readAt = new WeakMap<Clock, number>()

/** Returns the current time (ms) of the client; without a connection, the last that is known. */
export function useNow(tickMs = 1_000): number {
  const { clock } = useClient()
  if (!readAt.has(clock)) readAt.set(clock, performance.now())
  const isLive = useConnection() !== 'lost'
  const last = useRef(0)
  useWatched(window, 'tick', () => Math.floor(performance.now() / tickMs))
  // Stays the same between two ticks, even if something else redraws the page.
  const tickedAt = Math.floor(performance.now() / tickMs) * tickMs
  const passed =
    Math.max(0, tickedAt - readAt.get(clock)!) * (clock.mode === 'real' ? clock.speed : 0)
  if (isLive) last.current = Date.parse(clock.now) + passed
  return last.current
}

export function useAgo(at: string): string {
  const ms = useNow() - Date.parse(at)
  return ms < 1_000 ? 'just now' : `${spanText(ms)} ago`
}
