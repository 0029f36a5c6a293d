import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../src/config/package-root.ts'

/** Where the programs lie that only a few tests run: `npm test` installs them, before it runs a file that imports this one. */
export const TOOLS: string = join(PACKAGE_ROOT, 'test/tools')

/** Why the tests that run one of them can't run here; `false` where they can. */
export const noTools: string | false =
  !existsSync(join(TOOLS, 'node_modules/.installed')) &&
  'the packages of test/tools are not installed; with a network, npm test installs them'

/** A file of one of these packages. */
export function toolFile(name: string, file: string): string {
  const manifest = createRequire(join(TOOLS, 'package.json')).resolve(`${name}/package.json`)
  return manifest.replace('package.json', file)
}
