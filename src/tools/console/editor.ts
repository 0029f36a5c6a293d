// The editor of a scenario: a bundle of its own, which the page loads when somebody opens one.
import { autocompletion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml, yamlLanguage } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import * as lint from '@codemirror/lint'
import { Decoration, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import shipped from '../../../scenarios/scenario.schema.json'

type Schema = {
  $ref?: string
  anyOf?: Schema[]
  allOf?: Schema[]
  properties?: Readonly<Record<string, Schema>>
  additionalProperties?: Schema | boolean
  items?: Schema
  enum?: unknown[]
  const?: unknown
  type?: string
  description?: string
}
const { definitions, ...ROOT } = shipped as unknown as Schema & {
  definitions: Readonly<Record<string, Schema>>
}

const parse = (text: string) => yamlLanguage.parser.parse(text)
type Node = ReturnType<typeof parse>['topNode']

/** A schema, and all that it refers to or chooses from. */
function formsOf({ $ref, anyOf = [], allOf = [], ...own }: Schema): Schema[] {
  const named = $ref === undefined ? [] : [definitions[$ref.split('/').at(-1)!]!]
  return [own, ...[...anyOf, ...allOf, ...named].flatMap(formsOf)]
}

function keyOf(pair: Node, text: string) {
  const { from, to } = pair.getChild('Key') ?? { from: 0, to: 0 }
  return text.slice(from, to)
}

/** What may be inside a node: of a pair, its value. */
function schemasAt(node: Node | null, text: string): Schema[] {
  if (!node) return formsOf(ROOT)
  const above = schemasAt(node.parent, text)
  const [isItem, isPair] = [node.name === 'Item', node.name === 'Pair']
  if (!isItem && !isPair) return above
  return above.flatMap(({ items, properties, additionalProperties }) => {
    const schema = isItem ? items : (properties?.[keyOf(node, text)] ?? additionalProperties)
    return typeof schema === 'object' ? formsOf(schema) : []
  })
}

const valuesOf = (one: Schema) =>
  one.enum ?? (one.type === 'boolean' ? [true, false] : 'const' in one ? [one.const] : [])

/** The keys and values that the schema permits at the cursor. */
function complete({ state, pos, explicit }: CompletionContext) {
  const line = state.doc.lineAt(pos)
  const [, before = '', word = ''] = /^(.*?)([\w$*.-]*)$/.exec(state.sliceDoc(line.from, pos))!
  if (word === '' && !explicit && !/[:{,[-] +$/.test(before)) return null
  const isKey = /^\s*(- +)*$|[{,[]\s*$/.test(before)
  const colon = isKey && !/^[\w.-]*\s*:/.test(state.sliceDoc(pos, line.to)) ? ': ' : ''
  // What isn't written yet has a place in the tree once it has a word, and a key its colon.
  const text = `${state.sliceDoc(0, pos)}x${colon}${state.sliceDoc(pos)}`
  const place = parse(text).resolveInner(pos, 1)
  if (place.name !== 'Literal') return null
  const pair = place.parent?.name === 'Key' ? place.parent.parent : null
  const others = pair?.parent?.getChildren('Pair').map((one) => keyOf(one, text)) ?? []
  const options = schemasAt(pair ? pair.parent : place.parent, text).flatMap((schema) => [
    ...Object.entries((pair && schema.properties) ?? {})
      .filter(([label]) => !others.includes(label))
      .map(([label, { description: info = '' }]) => ({
        label,
        type: 'key',
        apply: label + colon,
        ...(info && { info }),
      })),
    ...valuesOf(schema).map((one) => ({ label: String(one), type: 'value' })),
  ])
  // Alternatives of a schema may have keys in common.
  const all = new Map(options.map((one) => [one.label, one]))
  return { from: pos - word.length, options: [...all.values()], validFor: /^[\w$*.-]*$/ }
}

/** What can be said without the sandbox: what is no YAML, and keys that the schema doesn't know. */
function check({ state }: EditorView) {
  const text = state.doc.toString()
  const found: lint.Diagnostic[] = []
  const add = (from: number, to: number, message: string) =>
    found.push({ from, to, message, severity: 'error' })
  parse(text).iterate({
    enter({ type, from, to, node }) {
      if (type.isError) add(from, to, "This isn't YAML: look at quotes, brackets and indentation.")
      if (type.name !== 'Key') return
      const key = text.slice(from, to).replace(/^(["'])(.*)\1$/, '$2')
      const forms = schemasAt(node.parent!.parent, text).filter((one) => one.properties)
      const isUnknown = ({ properties, additionalProperties }: Schema) =>
        !Object.hasOwn(properties!, key) && additionalProperties === false
      if (forms.length > 0 && forms.every(isUnknown)) add(from, to, `There is no ${key} here.`)
    },
  })
  return found
}

/** The problem of a line stands at its end. */
const messages = EditorView.decorations.of(({ state }) => {
  const lines = new Map<number, string>()
  lint.forEachDiagnostic(state, ({ message }, from) =>
    lines.set(state.doc.lineAt(from).from, message),
  )
  const line = (message: string) => Decoration.line({ attributes: { 'data-problem': message } })
  return Decoration.set(
    [...lines].map(([from, message]) => line(message).range(from)),
    true,
  )
})

const LOOK = EditorView.theme({
  '&': { background: 'var(--sunken)', border: '1px solid var(--edge)', borderRadius: '6px' },
  '&.cm-focused': { outline: '2px solid var(--link)' },
  '.cm-scroller': { font: '12px / 1.6 ui-monospace, monospace', maxHeight: '70vh' },
  '.cm-content': { minHeight: '20rem', caretColor: 'var(--text)' },
  '.cm-gutters': { background: 'none', color: 'var(--soft)', border: 0 },
  '.cm-lintRange-error': { background: 'none', textDecoration: 'underline wavy var(--bad) 1px' },
  '[data-problem]::after': { content: 'attr(data-problem)', color: 'var(--bad)', padding: '2em' },
  '.cm-tooltip, .cm-panels': { background: 'var(--card)', color: 'var(--text)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--tint)',
    color: 'var(--link)',
  },
})
const COLOURS = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: 'var(--link)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.comment, color: 'var(--soft)' },
])

/** Puts an editor into a box. Returns what shows the problems that the sandbox has found: `line 2, column 1: …`. */
export function openEditor(box: Element, doc: string, onChange: (text: string) => void) {
  // In a shadow root, its styles are no elements, which the policy of the page would refuse.
  const root = box.attachShadow({ mode: 'open' })
  // The keys of the page are text here.
  box.addEventListener('keydown', (event) => event.stopPropagation())
  let said: readonly lint.Diagnostic[] = []
  const keys = [completionKeymap, lint.lintKeymap, historyKeymap, defaultKeymap, indentWithTab]
  const extensions = [
    keymap.of(keys.flat()),
    lineNumbers(),
    history(),
    yaml(),
    syntaxHighlighting(COLOURS),
    autocompletion({
      override: [complete],
      icons: false,
      activateOnCompletion: ({ type }) => type === 'key',
    }),
    // What the sandbox says is better, until the text is another.
    lint.linter((view) => (said.length > 0 ? said : check(view))),
    messages,
    LOOK,
    // Tab leaves, also if Esc has closed something.
    EditorView.domEventObservers({
      keydown: ({ key }, view) => void (key === 'Escape' && view.setTabFocusMode(2_000)),
    }),
    EditorView.contentAttributes.of({ 'aria-label': 'Scenario' }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (!docChanged) return
      said = []
      onChange(state.doc.toString())
      box.dispatchEvent(new Event('input', { bubbles: true }))
    }),
  ]
  const view = new EditorView({ doc, root, parent: root, extensions })
  return (problems: readonly string[]) => {
    const { doc } = view.state
    said = problems.flatMap((text): lint.Diagnostic[] => {
      const [, line, column, message = ''] = /^line (\d+), column (\d+): (.*)/s.exec(text) ?? []
      const { from, to } = doc.line(Math.min(Number(line ?? 1), doc.lines))
      const at = Math.min(to, from + Number(column ?? 1) - 1)
      return line ? [{ from: at, to, message, severity: 'error' }] : []
    })
    view.dispatch(lint.setDiagnostics(view.state, said))
  }
}
