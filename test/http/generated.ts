/** Makes, type-checks and bundles clients with public generators. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'
import { TOOLS, toolFile } from '../tools.ts'

// The script is JavaScript without types.
const { TSC } = await import(join(PACKAGE_ROOT, 'scripts/tsc.mjs'))

/** Runs a program of Node; throws its output if it fails. */
function run(args: readonly string[]) {
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: 120_000,
    env,
  })
  if (status !== 0) throw new Error(`${args.join(' ')}\n${stdout}${stderr}`)
}

/** Writes the client of a document into a folder that has `openapi.json`. */
type Generator = (dir: string) => void

/** openapi-typescript, whose types openapi-fetch uses. */
export const openapiTypescript: Generator = (dir) =>
  run([
    toolFile('openapi-typescript', 'bin/cli.js'),
    join(dir, 'openapi.json'),
    '-o',
    join(dir, 'generated.ts'),
  ])

/** @hey-api/openapi-ts with these plugins. */
export const heyApi =
  (...plugins: readonly unknown[]): Generator =>
  (dir) => {
    const config = { input: join(dir, 'openapi.json'), output: join(dir, 'generated'), plugins }
    const file = join(dir, 'openapi-ts.config.mjs')
    writeFileSync(file, `export default ${JSON.stringify(config)}`)
    run([toolFile('@hey-api/openapi-ts', 'bin/run.js'), '-f', file])
  }

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
  },
  include: ['use.ts'],
}

/** Generates the client of a document, type-checks a program that uses it, and returns the program's function `use`. */
export async function programOf<Use>(
  t: Pick<Test, 'testdir'>,
  { document, generator, use }: { document: object; generator: Generator; use: string },
): Promise<Use> {
  const dir = t.testdir({
    'openapi.json': JSON.stringify(document),
    'use.ts': use,
    'tsconfig.json': JSON.stringify(TSCONFIG),
  })
  const modules = join(dir, 'node_modules')
  mkdirSync(modules)
  symlinkSync(join(TOOLS, 'node_modules/openapi-fetch'), join(modules, 'openapi-fetch'))
  generator(dir)
  run([...TSC, '-p', dir])
  const outfile = join(dir, 'use.mjs')
  await build({
    entryPoints: [join(dir, 'use.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    logLevel: 'error',
  })
  return (await import(outfile)).use
}
