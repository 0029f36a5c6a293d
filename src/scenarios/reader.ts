let reader: Promise<typeof import('./read.ts')> | undefined

/** The checks of scenarios and matches: they come with a YAML reader and schemas that a start can do without. */
export function loadReader(): Promise<typeof import('./read.ts')> {
  // Kept, so that what is checked later takes no turn of the event loop: a recorded run depends on that.
  reader ??= import('./read.ts')
  return reader
}
