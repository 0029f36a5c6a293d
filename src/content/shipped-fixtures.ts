import { join } from 'node:path'
import { builtFile, PACKAGE_ROOT } from '../config/package.ts'
import type { FixtureWorlds } from './fixtures.ts'

/** The shipped set as the build checked it; `undefined` if there is no build. */
export const shippedWorlds = builtFile((text): FixtureWorlds => new Map(JSON.parse(text)))

export const shippedFixtures = async (): Promise<FixtureWorlds> =>
  shippedWorlds(join(PACKAGE_ROOT, 'dist/fixtures.json')) ??
  (await import('./fixture-files.ts')).readFixtures(join(PACKAGE_ROOT, 'fixtures'))
