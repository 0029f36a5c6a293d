// The choices of the user, which the browser stores for this site.
import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { Choice } from './fields.tsx'
import { wallTime, type Zone, zoneName } from './format.ts'

/** A stored choice and its setter. */
function useSetting(name: string, usual: string): [string, (value: string) => void] {
  const key = `payout-sandbox ${name}`
  const [value, setValue] = useState(localStorage.getItem(key) ?? usual)
  useEffect(() => localStorage.setItem(key, value), [value])
  return [value, setValue]
}

/** The choice of the theme: light, dark, or that of the system. */
export function Theme() {
  const [theme, setTheme] = useSetting('theme', 'system')
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme
  }, [theme])
  return (
    <Choice
      label="Theme"
      value={theme}
      values={[
        ['system', 'System'],
        ['light', 'Light'],
        ['dark', 'Dark'],
      ]}
      onChange={setTheme}
    />
  )
}

const ZoneContext = createContext<Zone>('utc')
export const ZoneProvider = ZoneContext.Provider

/** The zone of all times, and its setter. */
export function useZoneSetting(): [Zone, (zone: string) => void] {
  const [zone, setZone] = useSetting('times', 'utc')
  return [zone === 'local' ? 'local' : 'utc', setZone]
}

/** The choice between UTC and the local time. */
export const Times = ({ zone, onChange }: { zone: Zone; onChange: (zone: string) => void }) => (
  <Choice
    label="Times"
    value={zone}
    values={[
      ['utc', 'UTC'],
      ['local', 'Local'],
    ]}
    onChange={onChange}
  />
)

/** Functions that format an instant in the chosen zone. */
export function useTimes() {
  const zone = useContext(ZoneContext)
  return {
    wallOf: (at: string) => wallTime(at, zone),
    zoneOf: (at: string) => zoneName(at, zone),
  }
}

/** An instant on the client's clock, with its zone; `short`: the time of the day alone. */
export function At({ at, short = false }: { at: string; short?: boolean }) {
  const { wallOf, zoneOf } = useTimes()
  const { day, time } = wallOf(at)
  return (
    <time dateTime={at} title={at}>
      {!short && day} <b>{time}</b> {!short && <span class="zone">{zoneOf(at)}</span>}
    </time>
  )
}
