// Builds dist: one bundle for the command line and the library, the console, Swagger UI's files, the shipped scenarios and
// fixtures, V8's code cache, the bill of materials, and with --types the published types.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writeBill } from './bill.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
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
// What the service imports of the tools, when somebody uses one, is in the other bundle.
const toolsApart = {
  name: 'tools-apart',
  setup(build) {
    const filter =
      /^\.\/(tools|sweep-run)\.ts$|\/tools\/(sweep|coverage|mcp|conform|har|reconcile|read-books|generated-rows|report\/(session|page))|^@modelcontextprotocol/
    build.onResolve({ filter }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './tools.cjs', external: true } : undefined,
    )
  },
}
const built = await Promise.all([
  build({
    ...node,
    entryPoints: ['src/bundle.ts'],
    outfile: 'dist/payout-sandbox.cjs',
    plugins: [toolsApart],
  }),
  build({ ...node, entryPoints: ['src/tools.ts'], outfile: 'dist/tools.cjs' }),
  build({
    ...common,
    entryPoints: { app: 'src/tools/console/main.tsx', report: 'src/tools/console/report.tsx' },
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
if (process.argv.includes('--sizes')) printSizes(built[0].metafile)

const require = createRequire(import.meta.url)
const swaggerUi = require.resolve('@fastify/swagger-ui/package.json')
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
  cpSync(join(dirname(swaggerUi), 'static', name), join(dist, 'swagger-ui', name))

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

/** Prints how much of the bundle of the service each package and each folder of src is. */
function printSizes({ outputs }) {
  const { inputs, bytes } = outputs['dist/payout-sandbox.cjs']
  const sizes = new Map()
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const part = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)|^(src\/[^/]+)/.exec(path)
    const name = part?.[1] ?? part?.[2] ?? path
    sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput)
  }
  for (const [name, size] of [...sizes].sort(([, a], [, b]) => b - a))
    console.log(
      `${(size / 1e3).toFixed(0).padStart(6)} kB ${((100 * size) / bytes).toFixed(1).padStart(5)} %  ${name}`,
    )
}

function run(...words) {
  const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
// Validated once here and not at each start.
const { readFixtures, readShipped } = require(join(dist, 'payout-sandbox.cjs'))
const store = (name, value) => writeFileSync(join(dist, name), JSON.stringify(value))
store('fixtures.json', [...(await readFixtures(join(root, 'fixtures')))])
store('scenarios.json', await readShipped(join(root, 'scenarios')))
run('scripts/code-cache.cjs')
if (process.argv.includes('--types')) run('scripts/types.mjs', 'dist/types')
// Last: scripts/ensure-build.mjs looks at it.
writeBill({ root, dist, metafiles: built.map(({ metafile }) => metafile) })
