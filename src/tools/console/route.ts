// The route of the page, such as `#/payments/ID`, and the fields that it has, such as `#/payments?search=rent`.
import { useEffect, useRef, useState } from 'preact/hooks'
import { focusOn } from './focus.ts'

export type Route = { view: string; id: string | undefined }

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // The page never creates such an address; unchanged, it leads to a view that does not exist.
    return part
  }
}

function routeOf(hash: string): Route {
  const [path = ''] = hash.split('?')
  const [, view = '', id = ''] = path.split('/')
  return { view: view || 'overview', id: id === '' ? undefined : decoded(id) }
}

type Run<E> = (event: E) => void

/** Runs a function at each event of a target. */
export function useListener<E extends Event>(target: EventTarget, type: string, run: Run<E>) {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const listener = (event: Event) => latest.current(event as E)
    target.addEventListener(type, listener)
    return () => target.removeEventListener(type, listener)
  }, [])
}

/** Returns a value that changes with an event of a target. */
export function useWatched<T>(target: EventTarget, type: string, read: () => T): T {
  const [value, setValue] = useState(read)
  useListener(target, type, () => setValue(read))
  // It may have changed before the listener was added.
  useEffect(() => setValue(read), [])
  return value
}

const useHash = () => useWatched(window, 'hashchange', () => location.hash)

export const useRoute = (): Route => routeOf(useHash())

// From here on, a list and one of its rows stand side by side.
const WIDE = matchMedia('(min-width: 81rem)')

export const useWide = () => useWatched(WIDE, 'change', () => WIDE.matches)

/** Scrolls to the top and moves the focus to the heading when the view changes; a list beside it and a search keep the focus. */
export function useScrollToTop({ view, id }: Route) {
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current && !document.activeElement?.closest('.rows, main input')) {
      const main = document.getElementById('main')!
      scrollTo(0, 0)
      focusOn(main.querySelector('.detail h2') ?? main.querySelector('h2') ?? main)
    }
    isFirst.current = false
  }, [view, id])
}

function fieldsOf(hash: string): URLSearchParams {
  const at = hash.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : hash.slice(at))
}

/** The fields of a view whose values are in the URL, so that a link and the way back have them too. */
export const useUrlFields = (): URLSearchParams => fieldsOf(useHash())

/** Sets fields of the URL; the empty string removes one. */
export function setUrlFields(values: Readonly<Record<string, string>>) {
  const fields = fieldsOf(location.hash)
  for (const [name, value] of Object.entries(values))
    if (value === '') fields.delete(name)
    else fields.set(name, value)
  const [path] = location.hash.split('?')
  // The entry of the browser's history stays the same: a search is not one step back for each letter.
  history.replaceState(null, '', fields.size > 0 ? `${path}?${fields}` : path)
  dispatchEvent(new Event('hashchange'))
}
