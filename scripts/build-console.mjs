// Builds dist/console: the page, its one script and its one style sheet.
import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const out = join(root, 'dist/console')
mkdirSync(out, { recursive: true })

/** esbuild's metadata of the input files. */
export const { metafile } = await build({
  entryPoints: { app: join(root, 'src/console/main.tsx') },
  outdir: out,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // Overrides tsconfig.json, which is not available when the image is built.
  tsconfigRaw: {},
  minify: true,
  metafile: true,
})
cpSync(join(root, 'src/console/index.html'), join(out, 'index.html'))
