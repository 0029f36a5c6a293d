// npm run sizes: no file of src has more than 350 lines and no function more than 150, so that a file can be read in one
// sitting and shared state has a name and a type.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installTools } from './tools.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const failure = await installTools('scripts/tools')
if (failure !== undefined) throw new Error(failure)
// TypeScript 7 has no stable API for programs yet, so this is TypeScript 6.
const { default: ts } = await import('./tools/node_modules/typescript/lib/typescript.js')
const MAX_FILE = 350
const MAX_FUNCTION = 150

/** A function's name: its own, or the one of the variable or property that holds it. */
const nameOf = (node) => (node.name ?? node.parent.name)?.getText() ?? 'a function without a name'

function* functionsOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const lineOf = (at) => source.getLineAndCharacterOfPosition(at).line
  function* walk(node) {
    if (ts.isFunctionLike(node) && node.body) {
      const lines = lineOf(node.end) - lineOf(node.getStart()) + 1
      yield { name: nameOf(node), line: lineOf(node.getStart()) + 1, lines }
    }
    for (const child of node.getChildren()) yield* walk(child)
  }
  yield* walk(source)
}

const found = []
for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue
  const path = join(entry.parentPath, entry.name)
  const file = relative(root, path)
  const text = readFileSync(path, 'utf8')
  const lines = text.split('\n').length - 1
  if (lines > MAX_FILE) found.push(`${file}: ${lines} lines; a file has at most ${MAX_FILE}`)
  for (const { name, line, lines: length } of functionsOf(path, text)) {
    if (length > MAX_FUNCTION)
      found.push(
        `${file}:${line}: ${name} has ${length} lines; a function has at most ${MAX_FUNCTION}`,
      )
  }
}
for (const line of found) console.error(line)
if (found.length > 0) process.exitCode = 1
