// The views, which stand in one line that scrolls where the screen is narrow.
import { useEffect } from 'preact/hooks'

/** Moves the link of the view that is shown to the middle of the line. */
function showTab(line: Element) {
  const tab = line.querySelector('[aria-current]')
  if (!tab) return
  const place = tab.getBoundingClientRect()
  const { left, width } = line.getBoundingClientRect()
  // Not scrollIntoView(), after which Tab would go on from the link.
  line.scrollLeft += place.left - left - (width - place.width) / 2
}

/** Keeps the link of the view in sight: at load, when the view changes, and when the line gets another size. */
export function useTabInSight(view: string) {
  useEffect(() => {
    const line = document.querySelector('.side')!
    const observer = new ResizeObserver(() => showTab(line))
    // This calls it for the first time, too.
    observer.observe(line)
    return () => observer.disconnect()
  }, [view])
}
