import {
  Composer,
  CST,
  type Document,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
} from 'yaml'
import { shown } from './wording.ts'

/** A place in a file; both count from 1. */
type SourcePosition = { line: number; column: number }

/** A fault at a place of a text. */
type SourceFault = SourcePosition & { message: string }

/** A part of a document: keys and list positions from the root. */
export type Path = readonly PropertyKey[]

/** A document read from text: its plain value, and where each part of it stands. */
export type Source = {
  value: unknown
  /** Where the value at a path stands, or its key; the nearest parent's place for what isn't there. */
  placeOf(path: Path, of?: 'key' | 'value'): SourcePosition
  faults: readonly SourceFault[]
}

const MAX_BYTES = 64 * 1024
/** How many mappings and lists may lie in one another. */
export const MAX_LEVELS = 32
const MAX_FAULTS = 50
// Each costs the composer a few µs, and so does each error in a text: these bounds keep the worst file under 0.2 s.
const MAX_TOKENS = 40_000
const MAX_TEXT = 8 * 1024

// The parser recurses and its errors build regular expressions: past a few hundred levels it takes the process down,
// so depth is counted on its stack, token by token, before anything composes.
const NESTING = new Set(['block-map', 'block-seq', 'flow-collection'])

const SYNTAX: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab; indent with spaces',
  BAD_INDENT: 'the indentation fits no line above; align it with its neighbours',
  MISSING_CHAR: 'a bracket, quote, comma or space is missing here',
  UNEXPECTED_TOKEN: 'this does not belong here; is a quote or a line break missing before it?',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line, with a colon and a space after it',
  BLOCK_AS_IMPLICIT_KEY:
    'a mapping cannot start inside another on one line; quote a text that holds ": "',
  BLOCK_IN_FLOW: 'a block inside { } or [ ]; close the bracket first',
  BAD_SCALAR_START: 'a text cannot start with this character; put it in quotes',
  BAD_DQ_ESCAPE: 'a backslash sequence that double quotes do not know; use single quotes',
  KEY_OVER_1024_CHARS: 'a key of over 1024 characters',
  BAD_COLLECTION_TYPE: 'this is not the kind of value its mark says',
}

/** What the language leaves out of YAML, by the token that starts it. */
const REFUSED: Readonly<Record<string, string>> = {
  alias: 'an alias (*); write the value out',
  anchor: 'an anchor (&); write the value out where it is used',
  tag: 'a tag (!); leave it out, and quote what is a text',
  'directive-line': 'a directive (%); leave it out',
}

type Scan = {
  tokens: CST.Token[]
  lines: LineCounter
  faults: { offset: number; message: string }[]
}

function scan(text: string): Scan {
  const lines = new LineCounter()
  const parser = new Parser(lines.addNewLine)
  const result: Scan = { tokens: [], lines, faults: [] }
  let scalarNext = false
  let lexemes = 0
  let afterComma = false
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    // After its mark a scalar's text comes as a lexeme of its own: "*" in it is no alias.
    const type: string | null = scalarNext ? 'scalar-text' : CST.tokenType(lexeme)
    scalarNext = type === 'scalar'
    // Commas with nothing between them are errors by the thousand; the first one is enough.
    const refused =
      type === 'comma' && afterComma ? 'a comma with no value before it' : REFUSED[type ?? '']
    if (type !== 'space' && type !== 'newline') afterComma = type === 'comma'
    if (refused) result.faults.push({ offset: parser.offset, message: refused })
    const { offset } = parser
    const tooMuch = beyondBounds(type === 'comment' ? '' : lexeme, ++lexemes)
    if (tooMuch) {
      result.faults.push({ offset, message: tooMuch })
      return result
    }
    for (const token of parser.next(lexeme)) result.tokens.push(token)
    if (parser.stack.length > MAX_LEVELS && levelsOf(parser) > MAX_LEVELS) {
      result.faults.push({
        offset,
        message: `more than ${MAX_LEVELS} levels of mappings and lists; a scenario needs about ten`,
      })
      return result
    }
    if (result.faults.length >= MAX_FAULTS) return result
  }
  for (const token of parser.end()) result.tokens.push(token)
  const [, second] = result.tokens.filter((token) => token.type === 'document')
  if (second) {
    const message = 'a second document (---); one file holds one scenario'
    result.faults.push({ offset: second.offset, message })
  }
  return result
}

function beyondBounds(lexeme: string, count: number): string | undefined {
  if (lexeme.length > MAX_TEXT && lexeme.trim() !== '') {
    return `a text of ${lexeme.length} characters; at most ${MAX_TEXT} are taken`
  }
  return count > MAX_TOKENS ? 'too many values for one file; split it with extends' : undefined
}

function levelsOf(parser: Parser): number {
  let levels = 0
  for (const { type } of parser.stack) if (NESTING.has(type)) levels++
  return levels
}

// A JSON number that survives the way through a double: what else YAML takes for one was meant as a text.
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/

// Paths are texts while walking: one concatenation a node.
const under = (path: string, key: PropertyKey) => `${path}\u0000${String(key)}`
const pathKey = (path: Path) => path.reduce(under, '')

type Walk = {
  keys: Map<string, number>
  values: Map<string, number>
  faults: { offset: number; message: string }[]
}

const offsetOf = (node: Node): number => node.range?.[0] ?? 0

function keyOf(node: unknown, walk: Walk): string | undefined {
  const scalar = isScalar(node) ? node : undefined
  const offset = scalar ? offsetOf(scalar) : offsetOf(node as Node)
  if (!scalar) {
    walk.faults.push({ offset, message: 'a key must be a word, found a list or mapping' })
    return undefined
  }
  // The text as written: `404:` is the key "404", `no:` is "no".
  const key = typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? '')
  if (key === '__proto__') {
    walk.faults.push({ offset, message: 'the key __proto__ is not taken; use another name' })
    return undefined
  }
  return key
}

function plainOf(node: unknown, path: string, walk: Walk): unknown {
  if (isMap(node)) return mapOf(node, path, walk)
  if (isSeq(node)) {
    return node.items.map((item, i) => {
      const at = under(path, i)
      if (item) walk.values.set(at, offsetOf(item as Node))
      return plainOf(item, at, walk)
    })
  }
  if (!isScalar(node)) return null
  const { value, source = '' } = node
  if (typeof value !== 'number' || PLAIN_NUMBER.test(source)) return value
  const message = `put ${shown(source)} in quotes: read as a number it loses its form`
  walk.faults.push({ offset: offsetOf(node), message })
  return source
}

function mapOf(node: { items: { key: unknown; value: unknown }[] }, path: string, walk: Walk) {
  const plain: Record<string, unknown> = {}
  for (const { key: keyNode, value } of node.items) {
    const key = keyOf(keyNode, walk)
    if (key === undefined) continue
    const at = under(path, key)
    if (Object.hasOwn(plain, key)) {
      walk.faults.push({
        offset: offsetOf(keyNode as Node),
        message: `the key ${shown(key)} is here twice; keep one`,
      })
      continue
    }
    walk.keys.set(at, offsetOf(keyNode as Node))
    walk.values.set(at, value ? offsetOf(value as Node) : offsetOf(keyNode as Node))
    plain[key] = plainOf(value, at, walk)
  }
  return plain
}

function compose({ tokens }: Scan, text: string): Document.Parsed | undefined {
  // Unique keys are checked in mapOf: the library's own check is quadratic.
  const composer = new Composer({
    uniqueKeys: false,
    version: '1.2',
    schema: 'core',
    prettyErrors: false,
  })
  // Each error captures a stack, which is most of its cost, and a broken file can have twenty thousand.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    for (const document of composer.compose(tokens, true, text.length))
      return document as Document.Parsed
    return undefined
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Reads YAML (and so JSON) of at most 64 KiB and 32 levels, without aliases, anchors, tags or directives. */
export function readYaml(text: string): Source {
  const start = { line: 1, column: 1 }
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_BYTES) {
    const message = `the file has ${bytes} bytes; at most ${MAX_BYTES} (64 KiB) are read. Split it with extends`
    return { value: undefined, placeOf: () => start, faults: [{ ...start, message }] }
  }
  const bare = text.startsWith('\ufeff') ? text.slice(1) : text
  const scanned = scan(bare)
  const placeAt = (offset: number): SourcePosition => {
    const { line, col } = scanned.lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const walk: Walk = { keys: new Map(), values: new Map(), faults: [...scanned.faults] }
  let value: unknown
  if (scanned.faults.length === 0) {
    const document = compose(scanned, bare)
    for (const { code, pos } of [...(document?.errors ?? []), ...(document?.warnings ?? [])]) {
      walk.faults.push({ offset: pos[0], message: SYNTAX[code] ?? 'this is not valid YAML here' })
    }
    if (document && walk.faults.length === 0) {
      if (document.contents) walk.values.set('', offsetOf(document.contents))
      value = plainOf(document.contents, '', walk)
    }
  }
  const faults = walk.faults
    .slice(0, MAX_FAULTS)
    .map(({ offset, message }) => ({ ...placeAt(offset), message }))
  const placeOf = (path: Path, of: 'key' | 'value' = 'value'): SourcePosition => {
    for (let length = path.length; length >= 0; length--) {
      const key = pathKey(path.slice(0, length))
      // What is missing is told at the key of what it is missing from.
      const first = of === 'key' || length < path.length ? walk.keys : walk.values
      const offset = first.get(key) ?? walk.values.get(key)
      if (offset !== undefined) return placeAt(offset)
    }
    return start
  }
  return { value, placeOf, faults }
}
