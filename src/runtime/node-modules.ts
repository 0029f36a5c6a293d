// runtime/: the one door to what is different in each run: real time, chance, the network. A test replaces what is behind
// it (runtime.ts).

/** Returns a function that makes its value when it is first called. */
export function onDemand<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

// Modules of Node that most starts do not need: loading them takes a tenth of a start, so they are loaded when first used.
export const nodeCrypto = onDemand(() => process.getBuiltinModule('node:crypto'))
export const nodeZlib = onDemand(() => process.getBuiltinModule('node:zlib'))
