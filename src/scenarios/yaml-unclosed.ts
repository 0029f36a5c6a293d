import type { CST } from 'yaml'

/** An unclosed bracket or quote: the offset of its start. */
type Unclosed = { offset: number; message: string }

const isClosedQuote: Readonly<Record<string, RegExp>> = {
  'double-quoted-scalar': /^"(?:[^"\\]|\\[\s\S])*"$/,
  'single-quoted-scalar': /^'(?:[^']|'')*'$/,
}
const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}' }

function collect(token: CST.Token, found: Unclosed[]): void {
  if ('items' in token) {
    const before = found.length
    for (const { key, value } of token.items) {
      if (key) collect(key, found)
      if (value) collect(value, found)
    }
    if (token.type !== 'flow-collection') return
    const { source, offset } = token.start
    // An unclosed part inside it takes its closing bracket too, so only the innermost one is certain.
    if (found.length > before || token.end[0]?.source === CLOSING[source]) return
    const message = `this "${source}" is not closed; add "${CLOSING[source]}"`
    found.push({ offset, message })
    return
  }
  const quoted = isClosedQuote[token.type]
  if (quoted && !quoted.test((token as CST.FlowScalar).source))
    found.push({
      offset: token.offset,
      message: 'this quote is not closed; end the text with the same quote',
    })
}

/** Finds the brackets and quotes without an end. The YAML library reports them only where it notices, often lines later. */
export function findUnclosed(tokens: readonly CST.Token[]): Unclosed[] {
  const found: Unclosed[] = []
  for (const token of tokens)
    if (token.type === 'document' && token.value) collect(token.value, found)
  return found.sort((a, b) => a.offset - b.offset)
}
