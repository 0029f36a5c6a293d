// Keys that work everywhere but in fields.
import { useState } from 'preact/hooks'
import { Dialog } from './act.tsx'
import { useListener } from './route.ts'
import { Facts } from './ui.tsx'

const KEYS = {
  '/': 'Search, and what you can do from anywhere; also Ctrl-K',
  '↑ ↓': 'Through the rows of a list; beside an open row, opens them',
  Enter: 'Opens a row',
  Esc: 'Back to the list',
  c: 'Copies a call as curl',
  '?': 'These keys',
}

/** `/` and Ctrl-K open the search, Esc leads back to the list, `c` copies curl, and `?` shows all keys. */
export function Keys() {
  const [areShown, setShown] = useState(false)
  useListener(window, 'keydown', (event: KeyboardEvent) => {
    const { key, target, ctrlKey, metaKey, altKey, defaultPrevented } = event
    const isTyping = (target as Element).matches('input, select, textarea, dialog *, dialog')
    const isPlain = !(defaultPrevented || ctrlKey || metaKey || altKey || isTyping)
    if ((key === 'k' && (ctrlKey || metaKey)) || (key === '/' && isPlain)) {
      event.preventDefault()
      location.hash = '#/search'
    }
    if (!isPlain) return
    const [path = '', fields = ''] = location.hash.split('?')
    const [, list, id] = path.split('/')
    if (key === '?') setShown(true)
    else if (key === 'Escape' && id) location.hash = `#/${list}${fields && `?${fields}`}`
    else if (key === 'c')
      document.querySelector<HTMLButtonElement>('main [data-key="c"] button')?.click()
  })
  return !areShown ? null : (
    <Dialog title="Keys" onClose={() => setShown(false)}>
      <Facts facts={KEYS} />
    </Dialog>
  )
}
