import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { readFixtures } from '../../src/content/fixture-files.ts'
import { shippedWorlds } from '../../src/content/shipped-fixtures.ts'

t.test('the fixtures in the build are those of the folder', async (t) => {
  const built = shippedWorlds(join(PACKAGE_ROOT, 'dist/fixtures.json'))
  t.strictSame(built, readFixtures(join(PACKAGE_ROOT, 'fixtures')))
  t.equal(shippedWorlds(join(PACKAGE_ROOT, 'dist/nothing.json')), undefined)
})
