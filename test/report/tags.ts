const NAME = '[A-Za-z][\\w-]*'
const TEXT = '(?:[^<>&]|&(?:amp|lt|gt|quot|#39);)*'
const ATTRIBUTE = `\\s+${NAME}(?:="(?:[^<>&"]|&(?:amp|lt|gt|quot|#39);)*")?`
const TOKEN = new RegExp(`(${TEXT})<(/?)(${NAME})((?:${ATTRIBUTE})*)(/?)>`, 'y')

export type Element = { name: string; attributes: string; texts: string[] }

/** Reads HTML or XML strictly: every text and attribute is escaped, every element ends. Throws where that is not so. */
export function elementsOf(source: string, isVoid: (name: string) => boolean = () => false) {
  const text = source.replace(/^<(?:!doctype html|\?xml version="1.0" encoding="UTF-8"\?)>\s*/, '')
  const elements: Element[] = []
  const open: Element[] = []
  let at = 0
  while (at < text.trimEnd().length) {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(text)
    if (!found) throw new Error(`not well-formed at: ${text.slice(at, at + 300)}`)
    const [whole, before = '', slash, name = '', attributes = '', ends] = found
    open.at(-1)?.texts.push(before)
    at += whole.length
    if (slash) {
      const last = open.pop()
      if (last?.name !== name) throw new Error(`</${name}> ends <${last?.name}>`)
      continue
    }
    const element = { name, attributes, texts: [] }
    elements.push(element)
    if (!ends && !isVoid(name)) open.push(element)
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)!.name}> does not end`)
  return elements
}
