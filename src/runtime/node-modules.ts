// Modules of Node that most starts do not need: loading them takes a tenth of a start, so they are loaded when first used.

import { onDemand } from './on-demand.ts'

export const nodeCrypto = onDemand(() => process.getBuiltinModule('node:crypto'))
export const nodeZlib = onDemand(() => process.getBuiltinModule('node:zlib'))
