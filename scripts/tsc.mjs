// What Node is given to run the TypeScript compiler. Its package exports no path to its program.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const manifest = createRequire(import.meta.url).resolve('typescript/package.json')
// Each of its threads checks the library's types anew: one takes a third of the processor time of four.
export const TSC = [join(dirname(manifest), 'bin/tsc'), '--singleThreaded']
