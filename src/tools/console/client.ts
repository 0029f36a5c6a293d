// The client that the page shows, and its time, which continues between two responses of the server.
import { createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import type { Client } from './api.ts'
import { spanText } from './format.ts'
import { useConnection } from './live.ts'

const TICK_MS = 200

const ClientContext = createContext<Client | undefined>(undefined)
export const ClientProvider = ClientContext.Provider
/** The client, as it was last read. */
export const useClient = (): Client => useContext(ClientContext)!

/** Returns the current time (ms) of the client; without a connection, the last that is known. */
export function useNow(tickMs = TICK_MS): number {
  const { clock } = useClient()
  const [seen, setSeen] = useState({ clock, at: performance.now() })
  const [, tick] = useState(0)
  const isLive = useConnection() !== 'lost'
  const last = useRef(0)
  if (seen.clock !== clock) {
    seen.clock = clock
    seen.at = performance.now()
    setSeen(seen)
  }
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), tickMs)
    return () => clearInterval(timer)
  }, [])
  const passed = clock.mode === 'real' ? (performance.now() - seen.at) * clock.speed : 0
  if (isLive) last.current = Date.parse(clock.now) + passed
  return last.current
}

/** How long ago an instant was, on the client's clock. */
export function useAgo(at: string): string {
  return `${spanText(useNow(1_000) - Date.parse(at))} ago`
}
