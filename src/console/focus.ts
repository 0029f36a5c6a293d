// Keeps the keyboard's place in a page whose parts come and go.

/**
 * When what had the focus is gone (a row that was deleted, a button that makes way for another), its nearest
 * part that is still there takes it: else the next Tab begins at the top of the page.
 */
export function keepFocus(root: HTMLElement): () => void {
  let places: HTMLElement[] = []

  function came({ target }: FocusEvent) {
    places = []
    for (let at = target as HTMLElement | null; at && at !== root; at = at.parentElement)
      places.push(at)
  }
  function left({ target }: FocusEvent) {
    // Left for good, unless it is left because it goes away.
    queueMicrotask(() => {
      if ((target as HTMLElement).isConnected && document.activeElement === document.body)
        places = []
    })
  }
  const observer = new MutationObserver(() => {
    if (document.activeElement !== document.body || places[0]?.isConnected !== false) return
    const next = places.find((place) => place.isConnected && place.matches('section, main, footer'))
    if (next) focusOn(next)
  })
  root.addEventListener('focusin', came)
  root.addEventListener('focusout', left)
  observer.observe(root, { childList: true, subtree: true })
  return () => {
    root.removeEventListener('focusin', came)
    root.removeEventListener('focusout', left)
    observer.disconnect()
  }
}

/** Puts the focus on a part that takes none by itself. */
export function focusOn(part: HTMLElement) {
  if (!part.hasAttribute('tabindex')) part.tabIndex = -1
  part.focus({ preventScroll: true })
}
