/** Makes, type-checks and bundles clients with public generators. */
import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Test } from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'

export const MODULES = join(PACKAGE_ROOT, 'test/slow/node_modules')
// Each of its threads checks the library's types anew: one takes a third of the processor time of four.
export const TSC = [join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc'), '--singleThreaded']

/** Runs a program of Node; throws its output if it fails. */
export function run(args: readonly string[]) {
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: 120_000,
    env,
  })
  if (status !== 0) throw new Error(`${args.join(' ')}\n${stdout}${stderr}`)
}

/** Makes a client with openapi-typescript, whose types openapi-fetch uses. */
const openapiTypescript = (dir: string) =>
  run([
    join(MODULES, 'openapi-typescript/bin/cli.js'),
    join(dir, 'openapi.json'),
    '-o',
    join(dir, 'generated.ts'),
  ])

/** Makes clients with @hey-api/openapi-ts and these plugins. */
function heyApi(root: string, clients: readonly { dir: string; plugins: readonly unknown[] }[]) {
  const configs = clients.map(({ dir, plugins }) => ({
    input: join(dir, 'openapi.json'),
    output: join(dir, 'generated'),
    plugins,
  }))
  const file = join(root, 'openapi-ts.config.mjs')
  writeFileSync(file, `export default ${JSON.stringify(configs)}`)
  run([join(MODULES, '@hey-api/openapi-ts/bin/run.js'), '-f', file])
}

export const TSCONFIG = {
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
  include: ['*/*.ts'],
}

/** A program that uses the client of a document: that of @hey-api/openapi-ts with plugins, or else of openapi-typescript. */
export type Program = { document: object; plugins?: readonly unknown[]; use: string }

/**
 * Generates the clients of documents, type-checks the programs that use them, and returns the function `use` of each. All at
 * once, because each start of a generator and of the compiler takes a second.
 */
export async function usesOf<Uses extends readonly unknown[]>(
  t: Pick<Test, 'testdir'>,
  programs: readonly Program[] & { length: Uses['length'] },
): Promise<Uses> {
  const root = t.testdir({
    node_modules: {},
    'tsconfig.json': JSON.stringify(TSCONFIG),
    ...Object.fromEntries(
      programs.map(({ document, use }, i) => [
        i,
        { 'openapi.json': JSON.stringify(document), 'use.ts': use },
      ]),
    ),
  })
  const dirOf = (i: number) => join(root, String(i))
  symlinkSync(join(MODULES, 'openapi-fetch'), join(root, 'node_modules/openapi-fetch'))
  for (const [i, { plugins }] of programs.entries())
    if (plugins === undefined) openapiTypescript(dirOf(i))
  heyApi(
    root,
    programs.flatMap(({ plugins }, i) => (plugins ? [{ dir: dirOf(i), plugins }] : [])),
  )
  run([...TSC, '-p', root])
  const uses = programs.map(async (_, i) => {
    const outfile = join(dirOf(i), 'use.mjs')
    await build({
      entryPoints: [join(dirOf(i), 'use.ts')],
      outfile,
      bundle: true,
      format: 'esm',
      logLevel: 'error',
    })
    return (await import(outfile)).use
  })
  return (await Promise.all(uses)) as readonly unknown[] as Uses
}
