// The route of the page, such as `#/payments/ID`.
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

/** Parses the hash of the URL. */
function routeOf(hash: string): Route {
  const [, view = '', id = ''] = hash.split('/')
  return { view: view || 'overview', id: id === '' ? undefined : decoded(id) }
}

/** Returns the current route, and renders again when it changes. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const changed = () => setHash(location.hash)
    // The hash may have changed before the listener was added.
    changed()
    addEventListener('hashchange', changed)
    return () => removeEventListener('hashchange', changed)
  }, [])
  return routeOf(hash)
}

/** Scrolls to the top and moves the focus to the heading when the view changes. */
export function useScrollToTop({ view, id }: Route) {
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
