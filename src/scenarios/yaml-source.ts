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
import { quoteValue } from './wording.ts'
import { findUnclosed } from './yaml-unclosed.ts'

/** A position in a file; line and column start at 1. */
type SourcePosition = { line: number; column: number }

/** An error at a position of a text. */
type SourceError = SourcePosition & { message: string }

/** The path of a value in a document: keys and list indexes from the root. */
export type Path = readonly PropertyKey[]

/** A parsed document: its plain value, and the position of each part. */
export type Source = {
  value: unknown
  /** Returns the position of the value at a path, or of its key. If the path does not exist, that of its nearest parent. */
  positionOf(path: Path, of?: 'key' | 'value'): SourcePosition
  errors: readonly SourceError[]
}

const MAX_BYTES = 64 * 1024
/** The maximum nesting depth of mappings and lists. */
export const MAX_NESTING = 32
const MAX_ERRORS = 50
// The composer needs a few µs for each token and each error: with these limits the worst file takes less than 0.2 s.
const MAX_TOKENS = 40_000
const MAX_TEXT = 8 * 1024

// The parser recurses and its errors build regular expressions, so some hundred levels crash the process.
// Therefore the depth is counted on the parser's stack at each token, before anything is composed.
const NESTING = new Set(['block-map', 'block-seq', 'flow-collection'])

const SYNTAX: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab; indent with spaces',
  BAD_INDENT: 'the indentation matches no line above; align it with its neighbours',
  MISSING_CHAR: 'a bracket, quote, comma or space is missing here',
  UNEXPECTED_TOKEN: 'this is not allowed here; is a quote or a line break missing before it?',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line, with a colon and a space after it',
  BLOCK_AS_IMPLICIT_KEY:
    'a mapping cannot start inside another on one line; quote a text that holds ": "',
  BLOCK_IN_FLOW: 'a block inside { } or [ ]; close the bracket first',
  BAD_SCALAR_START: 'a text cannot start with this character; put it in quotes',
  BAD_DQ_ESCAPE: 'an unknown backslash sequence in double quotes; use single quotes',
  KEY_OVER_1024_CHARS: 'a key of more than 1024 characters; shorten it',
  BAD_COLLECTION_TYPE: 'the value does not have the type that its tag names',
}

/** The parts of YAML that scenario files must not use, by the token that starts them. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  alias: 'an alias (*); write the value out',
  anchor: 'an anchor (&); write the value out where it is used',
  tag: 'a tag (!); remove it, and quote the value if it is text',
  'directive-line': 'a directive (%); remove it',
}

type Scan = {
  tokens: CST.Token[]
  lines: LineCounter
  errors: { offset: number; message: string }[]
}

function scan(text: string): Scan {
  const lines = new LineCounter()
  const parser = new Parser(lines.addNewLine)
  const result: Scan = { tokens: [], lines, errors: [] }
  let scalarNext = false
  let lexemes = 0
  let afterComma = false
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    // A scalar's text is a lexeme of its own after its marker, so "*" in it is not an alias.
    const type: string | null = scalarNext ? 'scalar-text' : CST.tokenType(lexeme)
    scalarNext = type === 'scalar'
    // A row of empty commas would give thousands of errors; the first one is enough.
    const unsupported =
      type === 'comma' && afterComma ? 'a comma with no value before it' : UNSUPPORTED[type ?? '']
    if (type !== 'space' && type !== 'newline') afterComma = type === 'comma'
    if (unsupported) result.errors.push({ offset: parser.offset, message: unsupported })
    const { offset } = parser
    const limit = limitMessage(type === 'comment' ? '' : lexeme, ++lexemes)
    if (limit) {
      result.errors.push({ offset, message: limit })
      return result
    }
    for (const token of parser.next(lexeme)) result.tokens.push(token)
    if (parser.stack.length > MAX_NESTING && nestingDepth(parser) > MAX_NESTING) {
      result.errors.push({
        offset,
        message: `more than ${MAX_NESTING} levels of mappings and lists; a scenario needs about 10`,
      })
      return result
    }
    if (result.errors.length >= MAX_ERRORS) return result
  }
  for (const token of parser.end()) result.tokens.push(token)
  const [, second] = result.tokens.filter((token) => token.type === 'document')
  if (second) {
    const message = 'a second document (---); one file holds one scenario'
    result.errors.push({ offset: second.offset, message })
  }
  return result
}

function limitMessage(lexeme: string, count: number): string | undefined {
  if (lexeme.length > MAX_TEXT && lexeme.trim() !== '') {
    return `a text of ${lexeme.length} characters; the maximum is ${MAX_TEXT}; shorten it`
  }
  return count > MAX_TOKENS ? 'too many values for one file; split it with extends' : undefined
}

function nestingDepth(parser: Parser): number {
  let levels = 0
  for (const { type } of parser.stack) if (NESTING.has(type)) levels++
  return levels
}

// A JSON number that a double represents exactly; anything else that YAML reads as a number was probably meant as text.
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/

// While walking, a path is one string, so that each node costs only one concatenation.
const childPath = (path: string, key: PropertyKey) => `${path}\u0000${String(key)}`
const pathKey = (path: Path) => path.reduce(childPath, '')

type Walk = {
  keys: Map<string, number>
  values: Map<string, number>
  errors: { offset: number; message: string }[]
}

const offsetOf = (node: Node): number => node.range?.[0] ?? 0

function keyOf(node: unknown, walk: Walk): string | undefined {
  const scalar = isScalar(node) ? node : undefined
  const offset = scalar ? offsetOf(scalar) : offsetOf(node as Node)
  if (!scalar) {
    walk.errors.push({ offset, message: 'a key must be text, not a list or a mapping' })
    return undefined
  }
  // A key is the text as written: `404:` is the key "404", `no:` is "no".
  const key = typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? '')
  if (key === '__proto__') {
    walk.errors.push({ offset, message: 'the key __proto__ is not allowed; use another name' })
    return undefined
  }
  return key
}

function plainValueOf(node: unknown, path: string, walk: Walk): unknown {
  if (isMap(node)) return plainMappingOf(node, path, walk)
  if (isSeq(node)) {
    return node.items.map((item, i) => {
      const at = childPath(path, i)
      if (item) walk.values.set(at, offsetOf(item as Node))
      return plainValueOf(item, at, walk)
    })
  }
  if (!isScalar(node)) return null
  const { value, source = '' } = node
  if (typeof value !== 'number' || PLAIN_NUMBER.test(source)) return value
  const message = `put ${quoteValue(source)} in quotes: as a number it would lose its original form`
  walk.errors.push({ offset: offsetOf(node), message })
  return source
}

function plainMappingOf(
  node: { items: { key: unknown; value: unknown }[] },
  path: string,
  walk: Walk,
) {
  const mapping: Record<string, unknown> = {}
  for (const { key: keyNode, value } of node.items) {
    const key = keyOf(keyNode, walk)
    if (key === undefined) continue
    const at = childPath(path, key)
    if (Object.hasOwn(mapping, key)) {
      walk.errors.push({
        offset: offsetOf(keyNode as Node),
        message: `the key ${quoteValue(key)} occurs twice; remove one`,
      })
      continue
    }
    walk.keys.set(at, offsetOf(keyNode as Node))
    walk.values.set(at, value ? offsetOf(value as Node) : offsetOf(keyNode as Node))
    mapping[key] = plainValueOf(value, at, walk)
  }
  return mapping
}

function compose({ tokens }: Scan, text: string): Document.Parsed | undefined {
  // plainMappingOf checks that keys are unique: the library's own check takes quadratic time.
  const composer = new Composer({
    uniqueKeys: false,
    version: '1.2',
    schema: 'core',
    prettyErrors: false,
  })
  // Stack traces are most of the cost of an error, and a broken file can have 20,000 errors.
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

/** Parses YAML (and therefore JSON) of at most 64 KiB and 32 levels. Rejects aliases, anchors, tags and directives. */
export function readYaml(text: string): Source {
  const start = { line: 1, column: 1 }
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_BYTES) {
    const message = `the file has ${bytes} bytes; the maximum is ${MAX_BYTES} (64 KiB). Split the file with extends`
    return { value: undefined, positionOf: () => start, errors: [{ ...start, message }] }
  }
  const withoutBom = text.startsWith('\ufeff') ? text.slice(1) : text
  const scanned = scan(withoutBom)
  const positionAt = (offset: number): SourcePosition => {
    const { line, col } = scanned.lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const walk: Walk = { keys: new Map(), values: new Map(), errors: [...scanned.errors] }
  let value: unknown
  if (scanned.errors.length === 0) {
    const document = compose(scanned, withoutBom)
    const unclosed = findUnclosed(scanned.tokens)
    const [{ offset: end } = { offset: Number.POSITIVE_INFINITY }] = unclosed
    for (const { code, pos } of [...(document?.errors ?? []), ...(document?.warnings ?? [])]) {
      // Errors after an unclosed bracket or quote are only its consequences.
      if (pos[0] >= end) continue
      walk.errors.push({ offset: pos[0], message: SYNTAX[code] ?? 'this is not valid YAML here' })
    }
    walk.errors.push(...unclosed)
    if (document && walk.errors.length === 0) {
      if (document.contents) walk.values.set('', offsetOf(document.contents))
      value = plainValueOf(document.contents, '', walk)
    }
  }
  const errors = walk.errors
    .slice(0, MAX_ERRORS)
    .map(({ offset, message }) => ({ ...positionAt(offset), message }))
  const positionOf = (path: Path, of: 'key' | 'value' = 'value'): SourcePosition => {
    for (let length = path.length; length >= 0; length--) {
      const key = pathKey(path.slice(0, length))
      // A missing value is reported at the key of its parent.
      const first = of === 'key' || length < path.length ? walk.keys : walk.values
      const offset = first.get(key) ?? walk.values.get(key)
      if (offset !== undefined) return positionAt(offset)
    }
    return start
  }
  return { value, positionOf, errors }
}
