// Writes the published types into the folder of its argument: only the types that a user imports, without any dependency.
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const PUBLISHED = [
  'index.ts',
  'admin/admin-client.ts',
  'scenarios/condition.ts',
  'model/feed-kinds.ts',
]

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const out = resolve(process.argv[2])
const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report }
const { options } = ts.getParsedCommandLineOfConfigFile(
  join(root, 'tsconfig.build.json'),
  undefined,
  host,
)
const files = PUBLISHED.map((name) => join(root, 'src', name))
// Of all other files only those types are made that these need; npm run types checks every file.
const program = ts.createProgram(files, options)

function report(...diagnostics) {
  process.stderr.write(
    ts.formatDiagnostics(diagnostics, {
      getCurrentDirectory: () => root,
      getCanonicalFileName: (name) => name,
      getNewLine: () => '\n',
    }),
  )
  process.exitCode = 1
}

/** All published files are in one folder, and a module specifier names the .js file. */
const flat = (text) =>
  text
    .replaceAll(/from '\.{1,2}\/(?:[\w-]+\/)*([\w-]+)\.ts'/g, "from './$1.js'")
    .replaceAll(/import\("\.{1,2}\/(?:[\w-]+\/)*([\w-]+)\.ts"\)/g, 'import("./$1.js")')

mkdirSync(out, { recursive: true })
for (const file of files) {
  const source = program.getSourceFile(file)
  const write = (name, text) => writeFileSync(join(out, basename(name)), flat(text))
  const { diagnostics } = program.emit(source, write, undefined, true)
  const found = [...ts.getPreEmitDiagnostics(program, source), ...diagnostics]
  if (found.length > 0) report(...found)
}
