// The program of the TypeScript compiler, as a file for Node. Its package exports no path to it.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const manifest = createRequire(import.meta.url).resolve('typescript/package.json')
export const TSC = join(dirname(manifest), 'bin/tsc')
