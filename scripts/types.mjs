// Writes the published types into the folder of its argument: only the types that a user imports, without any dependency.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { root, run, temporaryFolder } from './run.mjs'

const PUBLISHED = [
  'index.d.ts',
  'admin/admin-client.d.ts',
  'scenarios/condition.d.ts',
  'model/feed-kinds.d.ts',
]

// Each of its threads checks the library's types anew: one takes a third of the processor time of four.
const TSC = [join(root, 'node_modules/typescript/bin/tsc'), '--singleThreaded']
const out = resolve(process.argv[2])

/** All published files are in one folder, and a module specifier names the file of the same kind: .js or .cjs. */
const flat = (text, kind) =>
  text
    .replaceAll(/from '\.{1,2}\/(?:[\w-]+\/)*([\w-]+)\.ts'/g, `from './$1.${kind}'`)
    .replaceAll(/import\("\.{1,2}\/(?:[\w-]+\/)*([\w-]+)\.ts"\)/g, `import("./$1.${kind}")`)

// tsc also writes the types of the files that these import.
const all = temporaryFolder('types')
run(process.execPath, [...TSC, '-p', join(root, 'tsconfig.build.json'), '--outDir', all])
mkdirSync(out, { recursive: true })
for (const name of PUBLISHED)
  for (const kind of ['js', 'cjs']) {
    const file = basename(name).replace('.d.ts', kind === 'js' ? '.d.ts' : '.d.cts')
    writeFileSync(join(out, file), flat(readFileSync(join(all, name), 'utf8'), kind))
  }
