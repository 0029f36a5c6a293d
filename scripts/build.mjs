// Builds dist: one bundle for the command line and the library, one for generate, the code cache, Swagger UI's files, the
// console, the types, and the bill of materials.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writeBill } from './bill.mjs'
import { withoutUnused } from './build-without-unused.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')
const require = createRequire(import.meta.url)

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)

const typesWords = [join(root, 'scripts/types.mjs'), join(dist, 'types')]
// Beside the rest, because it takes as long.
const types = process.argv.includes('--types')
  ? once(spawn(process.execPath, typesWords, { stdio: 'inherit' }), 'exit')
  : [0]

const options = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  // On Node 20, code from the code cache cannot use import().
  supported: { 'dynamic-import': false },
  minify: true,
  metafile: true,
  legalComments: 'linked',
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
}

// The large name lists of faker are a separate file, so that only generate loads them.
const separateGenerate = {
  name: 'separate-generate',
  setup({ onResolve }) {
    onResolve({ filter: /\/generate-fixtures\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './generate-fixtures.cjs', external: true } : undefined,
    )
  },
}

// Libraries that a start does not run are files of their own: half of the text that each start would read otherwise. The SDK
// of MCP has its own copy of zod there, and gets no schemas from us.
const SEPARATE = {
  'mcp-sdk': [
    {
      path: '@modelcontextprotocol/server',
      names: ['createMcpHandler', 'ProtocolError', 'ProtocolErrorCode', 'Server'],
    },
    {
      path: '@modelcontextprotocol/server/stdio',
      names: ['StdioServerTransport', 'serveStdio'],
    },
  ],
  // The tools of an agent call the app with it.
  'light-my-request': [{ path: 'light-my-request' }],
  ipaddr: [{ path: 'ipaddr.js' }],
  re2js: [{ path: 're2js' }],
  yaml: [{ path: 'yaml' }],
  undici: [{ path: 'undici/lib/core/connect.js' }, { path: 'undici/lib/dispatcher/client.js' }],
}
const separateOf = new Map(
  Object.entries(SEPARATE).flatMap(([file, libraries]) =>
    libraries.map(({ path, names }, i) => [
      path,
      { library: `require('./${file}.cjs').libraries[${i}]`, of: require(path), names },
    ]),
  ),
)
/** The text of a file of SEPARATE. Only the names that are needed are in it, if they are given. */
const separateFile = (libraries) => {
  const texts = libraries.map(({ path, names }, i) =>
    names
      ? `import { ${names} } from '${path}'; const library${i} = { ${names} }`
      : `const library${i} = require('${path}')`,
  )
  return [...texts, `export const libraries = [${libraries.map((_, i) => `library${i}`)}]`].join(
    '\n',
  )
}
const separateLibraries = {
  name: 'separate-libraries',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path }) =>
      separateOf.has(path) ? { path, namespace: 'separate' } : undefined,
    )
    onResolve({ filter: /./, namespace: 'separate' }, ({ path }) => ({ path, external: true }))
    onLoad({ filter: /./, namespace: 'separate' }, ({ path }) => {
      const { library, of, names = Object.keys(of) } = separateOf.get(path)
      if (typeof of === 'function') return { contents: `module.exports = ${library}` }
      // The file is loaded when an export is first used.
      const getters = names.map((name) => `get ${name}() { return ${library}.${name} }`)
      return { contents: `module.exports = { ${getters.join(', ')} }` }
    })
  },
}
const built = await Promise.all([
  build({
    ...options,
    entryPoints: [join(root, 'src/bundle.ts')],
    outfile: join(dist, 'payout-sandbox.cjs'),
    plugins: [separateGenerate, separateLibraries, withoutUnused(root)],
  }),
  build({
    ...options,
    entryPoints: [join(root, 'src/cli/generate-fixtures.ts')],
    outfile: join(dist, 'generate-fixtures.cjs'),
  }),
  ...Object.entries(SEPARATE).map(([file, libraries]) =>
    build({
      ...options,
      stdin: { contents: separateFile(libraries), resolveDir: root },
      outfile: join(dist, `${file}.cjs`),
      plugins: [withoutUnused(root)],
    }),
  ),
])

// V8 stores a text with one other character in twice the memory, and Node takes longer to read it. esbuild writes such a
// character unchanged in patterns and templates, where its escape means the same.
const bundle = join(dist, 'payout-sandbox.cjs')
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
writeFileSync(bundle, readFileSync(bundle, 'utf8').replaceAll(/[^\0-\x7f]/g, escaped))
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
writeFileSync(
  join(dist, 'index.js'),
  `import bundle from './loader.cjs'\nexport const { AdminError, createAdminClient, startSandbox } = bundle\n`,
)

const swaggerUi = join(dist, 'swagger-ui')
mkdirSync(swaggerUi)
const assets = join(dirname(require.resolve('@fastify/swagger-ui/package.json')), 'static')
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
  cpSync(join(assets, name), join(swaggerUi, name))

// Imported here, because the import builds into the folder that was emptied above.
const { metafile: consoleMetafile } = await import('./build-console.mjs')

function run(script) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', script)], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
}
run('shipped.cjs')
// Taken after real calls, so that the cache contains the code that they compile.
run('code-cache.cjs')
const [typesStatus] = await types
if (typesStatus !== 0) process.exit(1)

// Last: scripts/ensure-build.mjs looks at it.
writeBill({ root, dist, metafiles: [...built.map(({ metafile }) => metafile), consoleMetafile] })
