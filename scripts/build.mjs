// Builds dist: one bundle for the command line and the library, the console, Swagger UI's files, the shipped scenarios and
// fixtures, V8's code cache, the bill of materials, and with --types the published types.
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { writeBill } from './bill.mjs'
import { root, run } from './run.mjs'

const dist = join(root, 'dist')
rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)

const common = { absWorkingDir: root, bundle: true, minify: true, metafile: true }
const node = {
  ...common,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  // On Node 20, code from the code cache cannot use import().
  supported: { 'dynamic-import': false },
  legalComments: 'linked',
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
}
// What is loaded when somebody uses it is in another file.
const apart = (filter, path) => ({
  name: path,
  setup(build) {
    build.onResolve({ filter }, ({ kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    )
  },
})
const TOOLS =
  /^\.\/(tools|sweep-run)\.ts$|\/tools\/(sweep|coverage|mcp|conform|har|reconcile|read-books|generated-rows|report\/(session|page))|^@modelcontextprotocol/
// Of the client of a language, and of a page of the docs, the console shows what verifies a webhook.
const VERIFIER =
  /^(?:import \{ createHmac|\/\/|\/\*| {2}\/\*|def)(?=(?:.*\n){0,3}.*verify_?webhook\()[\s\S]*?(?:(?=\n\n\n)|\n {0,2}\}\n)/im
const verifiers = {
  name: 'verifiers',
  setup(build) {
    build.onLoad({ filter: /\.(py|java|go|php|md)$/ }, ({ path }) => ({
      contents: VERIFIER.exec(readFileSync(path, 'utf8'))[0],
      loader: 'text',
    }))
  },
}
const built = await Promise.all([
  build({
    ...node,
    entryPoints: ['src/bundle.ts'],
    outfile: 'dist/payout-sandbox.cjs',
    plugins: [apart(TOOLS, './tools.cjs')],
  }),
  build({ ...node, entryPoints: ['src/tools.ts'], outfile: 'dist/tools.cjs' }),
  build({
    ...common,
    entryPoints: {
      app: 'src/tools/console/main.tsx',
      editor: 'src/tools/console/editor.ts',
      report: 'src/tools/console/report.tsx',
    },
    plugins: [apart(/editor\.ts$/, './editor.js'), verifiers],
    outdir: 'dist/console',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // Overrides tsconfig.json, which is not available when the image is built.
    tsconfigRaw: {},
  }),
])
for (const name of ['index.html', 'example.json'])
  cpSync(join(root, 'src/tools/console', name), join(dist, 'console', name))

// scripts/loader.cjs reads the bundle as latin1: one other character, such as one in a regular expression, would double its
// size in memory.
for (const name of ['payout-sandbox.cjs', 'tools.cjs']) {
  const text = readFileSync(join(dist, name), 'utf8')
  const foreign = /[^\0-\x7f]/.exec(text)
  if (!foreign) continue
  const excerpt = text.slice(Math.max(0, foreign.index - 60), foreign.index + 60)
  console.error(`${name} must be ASCII. Write \\u escapes in regular expressions; see: ${excerpt}`)
  process.exit(1)
}

const require = createRequire(import.meta.url)
const swaggerUi = require.resolve('@fastify/swagger-ui/package.json')
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
  cpSync(join(dirname(swaggerUi), 'static', name), join(dist, 'swagger-ui', name))
cpSync(join(root, 'src/http/docs.js'), join(dist, 'swagger-ui/page.js'))

cpSync(join(root, 'scripts/loader.cjs'), join(dist, 'loader.cjs'))
writeFileSync(
  join(dist, 'bin.cjs'),
  `#!/usr/bin/env node
require('./loader.cjs').main(process.argv.slice(2), process.env).then((code) => {
  process.exitCode = code
})
`,
)
chmodSync(join(dist, 'bin.cjs'), 0o755)
const NAMES = '{ AdminError, createAdminClient, startSandbox }'
writeFileSync(
  join(dist, 'index.js'),
  `import bundle from './loader.cjs'\nexport const ${NAMES} = bundle\n`,
)
writeFileSync(
  join(dist, 'index.cjs'),
  `const ${NAMES} = require('./loader.cjs')\nmodule.exports = ${NAMES}\n`,
)

// Validated once here and not at each start.
const { readFixtures, readShipped } = require(join(dist, 'payout-sandbox.cjs'))
const store = (name, value) => writeFileSync(join(dist, name), JSON.stringify(value))
store('fixtures.json', [...(await readFixtures(join(root, 'fixtures')))])
store('scenarios.json', await readShipped(join(root, 'scenarios')))
run(process.execPath, ['scripts/code-cache.cjs'])
if (process.argv.includes('--types')) run(process.execPath, ['scripts/types.mjs', 'dist/types'])
// Last: scripts/ensure-build.mjs looks at it.
writeBill({ root, dist, metafiles: built.map(({ metafile }) => metafile) })
