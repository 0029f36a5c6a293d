// Makes dist: one bundle for the command line and the library, one for generate, the code cache, Swagger UI's files, the
// console, the types, and what of others is in them.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writeBill } from './bill.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')
const require = createRequire(import.meta.url)

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)

const options = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  // Code that comes from the cache has no import() of its own on Node 20.
  supported: { 'dynamic-import': false },
  minify: true,
  metafile: true,
  legalComments: 'linked',
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
}

// Names for a million people are a file of their own, so that only generate reads them.
const apart = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/generate-fixtures\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './generate-fixtures.cjs', external: true } : undefined,
    )
  },
}
// debug looks for it and does without; of what a sandbox does it would colour nothing.
const absent = {
  name: 'absent',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^supports-color$/ }, ({ path }) => ({ path, namespace: 'absent' }))
    onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: "throw new Error('absent')" }))
  },
}
const built = await Promise.all([
  build({
    ...options,
    entryPoints: [join(root, 'src/bundle.ts')],
    outfile: join(dist, 'payout-sandbox.cjs'),
    plugins: [apart, absent],
  }),
  build({
    ...options,
    entryPoints: [join(root, 'src/cli/generate-fixtures.ts')],
    outfile: join(dist, 'generate-fixtures.cjs'),
  }),
])

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

// After the folder was emptied.
const { metafile: consoleMetafile } = await import('./build-console.mjs')

function run(script, ...args) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', script), ...args], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
}
run('shipped.cjs')
// The cache is taken after real calls were answered, so that what they compiled is in it.
run('code-cache.cjs')
if (process.argv.includes('--types')) run('types.mjs', join(dist, 'types'))

writeBill({ root, dist, metafiles: [...built.map(({ metafile }) => metafile), consoleMetafile] })
