// For programs that only send a few calls: the parser of fetch is WebAssembly, and V8 would compile all of it, and parts again
// for speed. That takes 0.05 to 0.1 s of processor time at each start. NODE_OPTIONS cannot contain these options.
'use strict'
const { setFlagsFromString } = require('node:v8')

for (const flag of [
  '--liftoff-only',
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
  '--wasm-lazy-compilation',
])
  setFlagsFromString(flag)
