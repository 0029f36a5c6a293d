let checks: Promise<typeof import('./read.ts')> | undefined

/** Loads the checks of scenarios and matches on first use, because their YAML parser and schemas would slow down each start. */
export function loadReader(): Promise<typeof import('./read.ts')> {
  // Cached, so that a later check does not wait for the event loop: a replay of a recording depends on it.
  checks ??= import('./read.ts')
  return checks
}
