import { useEffect } from 'preact/hooks'

// Preserves the keyboard focus when parts of the page are removed.

/** Moves the focus from a removed element to its nearest remaining parent; otherwise the next Tab would start at the top. */
export function keepFocus(root: HTMLElement): () => void {
  let ancestors: HTMLElement[] = []

  function onFocusIn({ target }: FocusEvent) {
    ancestors = []
    for (let at = target as HTMLElement | null; at && at !== root; at = at.parentElement)
      ancestors.push(at)
  }
  function onFocusOut({ target }: FocusEvent) {
    // Clear the list, unless the element lost the focus because it was removed.
    queueMicrotask(() => {
      if ((target as HTMLElement).isConnected && document.activeElement === document.body)
        ancestors = []
    })
  }
  const observer = new MutationObserver(() => {
    if (document.activeElement !== document.body || ancestors[0]?.isConnected !== false) return
    const next = ancestors.find(
      (ancestor) => ancestor.isConnected && ancestor.matches('section, header, main, footer'),
    )
    if (next) focusOn(next)
  })
  root.addEventListener('focusin', onFocusIn)
  root.addEventListener('focusout', onFocusOut)
  observer.observe(root, { childList: true, subtree: true })
  return () => {
    root.removeEventListener('focusin', onFocusIn)
    root.removeEventListener('focusout', onFocusOut)
    observer.disconnect()
  }
}

/** Moves the focus from one of some elements to the next one, or with -1 to the one before. Returns it, if there is one. */
export function focusNext(box: HTMLElement, selector: string, step: number) {
  const all = [...box.querySelectorAll<HTMLElement>(selector)]
  const next = all[all.indexOf(document.activeElement as HTMLElement) + step]
  next?.focus()
  return next
}

export function focusOn(part: HTMLElement) {
  if (!part.hasAttribute('tabindex')) part.tabIndex = -1
  part.focus({ preventScroll: true })
}

/** Tells the styles how high the header is: its parts can be in several lines. */
export function useHeadHeight() {
  useEffect(() => {
    const head = document.querySelector('header')!
    const observer = new ResizeObserver(() =>
      document.documentElement.style.setProperty('--head', `${head.offsetHeight}px`),
    )
    observer.observe(head)
    return () => observer.disconnect()
  }, [])
}
