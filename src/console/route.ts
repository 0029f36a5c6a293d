// Where in the page one is: `#/payments/ID`.
import { useEffect, useRef, useState } from 'preact/hooks'
import { focusOn } from './focus.ts'

export type Route = { view: string; id: string | undefined }

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // No address that the page makes; shown as it is, it leads to what there is not.
    return part
  }
}

/** The parts of a hash. */
function routeOf(hash: string): Route {
  const [, view = '', id = ''] = hash.split('/')
  return { view: view || 'overview', id: id === '' ? undefined : decoded(id) }
}

/** The view that is looked at. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const changed = () => setHash(location.hash)
    // It may have changed before anybody listened.
    changed()
    addEventListener('hashchange', changed)
    return () => removeEventListener('hashchange', changed)
  }, [])
  return routeOf(hash)
}

/** Begins each further view at its top, for the eye and for the keyboard. */
export function useFreshStart({ view, id }: Route) {
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) {
      const main = document.getElementById('main')!
      scrollTo(0, 0)
      focusOn(main.querySelector('h2') ?? main)
    }
    isFirst.current = false
  }, [view, id])
}
