// The links of the views are in one line, which scrolls on a narrow screen.
import { useEffect } from 'preact/hooks'

/** Scrolls the line so that the link of the current view is in the middle. */
function showTab(line: Element) {
  const tab = line.querySelector('[aria-current]')
  if (!tab) return
  const place = tab.getBoundingClientRect()
  const { left, width } = line.getBoundingClientRect()
  // scrollIntoView() would make the next Tab start at the link.
  line.scrollLeft += place.left - left - (width - place.width) / 2
}

/** Keeps the link of the current view visible: at load, when the view changes, and when the line changes its size. */
export function useVisibleTab(view: string) {
  useEffect(() => {
    const line = document.querySelector('.side')!
    const observer = new ResizeObserver(() => showTab(line))
    // observe() also calls the function once at the start.
    observer.observe(line)
    return () => observer.disconnect()
  }, [view])
}
