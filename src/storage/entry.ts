/** The sort key of a table: a number in all its rows, or an ISO text of the same form in all its rows. */
export type Moment = number | string

/**
 * A stored row with its position in the order and its memoized JSON texts. Rows are replaced, never mutated, except by a
 * start.
 */
export type Entry<R> = {
  readonly id: string
  readonly row: R
  /** Order of insertion; breaks ties of `at`. */
  readonly seq: number
  readonly at: Moment
  /** Memoized JSON text of the row's one or two views (see `memoizedText`). */
  text: string | undefined
  otherText: string | undefined
}

type Position = { readonly at: Moment; readonly seq: number }

/** Whether an entry is older than another one of the same table. */
export const isBefore = (a: Position, b: Position): boolean =>
  a.at === b.at ? a.seq < b.seq : a.at < b.at

/**
 * Joins the parts of a JSON text. V8 keeps a concatenation as a tree of its parts until somebody reads a character; each
 * list would walk the tree again, which took a fifth of its time.
 */
const flat = (text: string): string =>
  // Always the text: no JSON begins with this character. V8 (Node 22) leaves out a read whose result is not used.
  text.charCodeAt(0) === 0 ? '' : text

/**
 * Renders the JSON text of an entry and memoizes it from its second use on; a row has room for two views. Most rows
 * are rendered once, by the call that creates them, and a memoized text needs more memory than the rest of the row.
 */
export function memoizedText<R>(slot: 'text' | 'otherText', render: (row: R) => string) {
  return (entry: Entry<R>): string => {
    const memoized = entry[slot]
    if (memoized) return memoized
    const text = render(entry.row)
    entry[slot] = memoized === undefined ? '' : flat(text)
    return text
  }
}
