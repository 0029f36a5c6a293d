import { BadFixtures } from '../../content/fixture-problems.ts'
import { fixturesOf } from '../../content/fixtures.ts'
import type { FixtureWorlds, StartRows } from '../../content/start-rows.ts'
import { validationFailed } from '../../model/validation-errors.ts'
import { DEFAULT_CLIENT } from '../../world/client-rows.ts'

/** The rows of the fixtures in the body of a request. */
export function rowsOfBody(content: object): StartRows {
  let sets: FixtureWorlds
  try {
    sets = fixturesOf(content, 'fixtures')
  } catch (error) {
    if (!(error instanceof BadFixtures)) throw error
    const errors = error.problems.map(({ path, message }) => ({
      field: path ? `fixtures.${path}` : 'fixtures',
      code: 'invalid_value',
      message,
    }))
    throw validationFailed(errors)
  }
  if (sets.size === 1) return sets.get(DEFAULT_CLIENT)!
  const message = `must have exactly one client, named default; found ${sets.size}`
  throw validationFailed([{ field: 'fixtures.clients', code: 'invalid_value', message }])
}
