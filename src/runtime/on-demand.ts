/** Returns a function that makes its value when it is first called. */
export function onDemand<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
