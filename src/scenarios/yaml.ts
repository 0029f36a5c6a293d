import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  parseDocument,
} from 'yaml'
import { quoteValue } from '../model/words.ts'

/** A position in a file; line and column start at 1. */
type SourcePosition = { line: number; column: number }

/** The path of a value in a document: keys and list indexes from the root. */
export type Path = readonly PropertyKey[]

export type Source = {
  value: unknown
  /** Returns the position of the value at a path, or of its key. If the path does not exist, that of its nearest parent. */
  positionOf(path: Path, of?: 'key' | 'value'): SourcePosition
  errors: readonly (SourcePosition & { message: string })[]
}

export const MAX_BYTES = 64 * 1024
export const MAX_NESTING = 32
const MAX_ERRORS = 50

export const tooLargeMessage = (bytes: number) =>
  `the file has ${bytes} bytes; the maximum is ${MAX_BYTES} (64 KiB). Split the file with extends`

const TOO_DEEP = `more than ${MAX_NESTING} levels of mappings and lists; a scenario needs about 10`

/** The messages for the errors of the parser that say more than its own. */
const SYNTAX: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab; indent with spaces',
  UNEXPECTED_TOKEN: 'this is not allowed here; is a quote or a line break missing before it?',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line, with a colon and a space after it',
  BLOCK_AS_IMPLICIT_KEY:
    'a mapping cannot start inside another on one line; quote a string that has ": "',
  BLOCK_IN_FLOW: 'a block inside { } or [ ]; close the bracket first',
  BAD_SCALAR_START: 'a string cannot start with this character; put it in quotes',
  BAD_DQ_ESCAPE: 'an unknown backslash sequence in double quotes; use single quotes',
  MULTIPLE_DOCS: 'a second document (---); one file holds one scenario',
}

const DIRECTIVE = /^(?:[ \t]*(?:#.*)?\r?\n)*%/

// A JSON number that a double represents exactly; anything else that YAML reads as a number was probably meant as text.
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/

type MaybeNode = ParsedNode | null
type Refuse = (node: MaybeNode, message: string) => void

/** Returns the text of a key as written: `404:` is the key "404", `no:` is "no". */
function keyOf(node: MaybeNode): string | undefined {
  if (!isScalar(node)) return undefined
  return typeof node.value === 'string' ? node.value : (node.source ?? '')
}

function refusedProperty(node: ParsedNode): string | undefined {
  if (isAlias(node)) return 'an alias (*); write the value out'
  if (node.anchor) return 'an anchor (&); write the value out where it is used'
  if (node.tag) return 'a tag (!); remove it, and quote the value if it is text'
  return undefined
}

/** Returns the plain value of a node, and refuses what scenario files must not use. */
function plainValueOf(node: MaybeNode, refuse: Refuse): unknown {
  if (node === null) return null
  const refused = refusedProperty(node)
  if (refused) refuse(node, refused)
  if (isScalar(node)) {
    const { value, source } = node
    if (typeof value !== 'number' || PLAIN_NUMBER.test(source)) return value
    refuse(node, `put ${quoteValue(source)} in quotes: as a number it would lose its original form`)
    return source
  }
  if (isSeq(node)) return node.items.map((item) => plainValueOf(item, refuse))
  const mapping: Record<string, unknown> = {}
  if (!isMap(node)) return mapping
  for (const { key: keyNode, value } of node.items) {
    const refusedKey = keyNode && refusedProperty(keyNode)
    const key = keyOf(keyNode)
    if (refusedKey) refuse(keyNode, refusedKey)
    else if (key === undefined) refuse(keyNode, 'a key must be text, not a list or a mapping')
    else if (key === '__proto__')
      refuse(keyNode, 'the key __proto__ is not allowed; use another name')
    else if (Object.hasOwn(mapping, key))
      refuse(keyNode, `the key ${quoteValue(key)} occurs twice; remove one`)
    else mapping[key] = plainValueOf(value, refuse)
  }
  return mapping
}

/** Returns the node at a path, or its key; if the path does not exist, the key of its nearest parent. */
function nodeAt(root: MaybeNode, path: Path, of: 'key' | 'value'): MaybeNode {
  let [key, value]: MaybeNode[] = [null, root]
  for (const name of path) {
    let next: [key: MaybeNode, value: MaybeNode] | undefined
    if (isSeq(value)) next = [null, value.items[Number(name)] ?? null]
    else if (isMap(value)) {
      const pair = value.items.find((one) => keyOf(one.key) === String(name))
      next = pair && [pair.key, pair.value]
    }
    if (!next?.[0] && !next?.[1]) return key ?? value!
    ;[key, value] = next
  }
  return (of === 'key' ? (key ?? value) : (value ?? key))!
}

const NESTING = new Set(['block-map', 'block-seq', 'flow-collection'])

/** Returns where a string is nested too deeply. `parseDocument` has no limit: some thousand levels end the process. */
function findTooDeep(text: string, lines: LineCounter): number | undefined {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser
    for (const _ of parser.next(lexeme));
    const { stack } = parser
    if (stack.length <= MAX_NESTING) continue
    if (stack.filter(({ type }) => NESTING.has(type)).length > MAX_NESTING) return offset
  }
  return undefined
}

/** Parses YAML (and therefore JSON) of at most 64 KiB and 32 levels. Refuses aliases, anchors, tags and directives. */
export function readYaml(text: string): Source {
  const lines = new LineCounter()
  const positionAt = (offset: number): SourcePosition => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const found: { offset: number; message: string }[] = []
  const source = (root: MaybeNode, value: unknown): Source => ({
    value,
    positionOf: (path, of = 'value') => positionAt(nodeAt(root, path, of)?.range[0] ?? 0),
    errors: found
      .slice(0, MAX_ERRORS)
      .map(({ offset, message }) => ({ ...positionAt(offset), message })),
  })
  const refuseAt = (offset: number, message: string) => {
    found.push({ offset, message })
    return source(null, undefined)
  }

  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_BYTES) return refuseAt(0, tooLargeMessage(bytes))
  const withoutBom = text.replace(/^\ufeff/, '')
  const directive = DIRECTIVE.exec(withoutBom)
  const tooDeep = findTooDeep(withoutBom, lines)
  if (tooDeep !== undefined) return refuseAt(tooDeep, TOO_DEEP)
  if (directive) return refuseAt(directive[0].length - 1, 'a directive (%); remove it')
  const document = parseDocument(withoutBom, {
    prettyErrors: false,
    schema: 'core',
    // `plainValueOf` refuses a key that occurs twice: the library's check compares each key with all others.
    uniqueKeys: false,
  })
  for (const { code, pos, message } of document.errors)
    found.push({ offset: pos[0], message: SYNTAX[code] ?? message })
  const root = document.contents
  if (found.length > 0) return source(root, undefined)
  const value = plainValueOf(root, (node, message) => {
    found.push({ offset: node?.range[0] ?? 0, message })
  })
  return source(root, value)
}
