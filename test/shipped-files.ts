// Reads and validates the shipped scenarios and fixtures once for a whole test run; test/helper.ts reads the results.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readShipped } from '../src/bundle.ts'
import { PACKAGE_ROOT } from '../src/config/package.ts'
import { readFixtures } from '../src/content/fixture-files.ts'

const [folder] = process.argv.slice(2)
const write = (name: string, content: unknown) =>
  writeFileSync(join(folder!, name), JSON.stringify(content))
write('fixtures.json', [...readFixtures(join(PACKAGE_ROOT, 'fixtures'))])
write('scenarios.json', await readShipped(join(PACKAGE_ROOT, 'scenarios')))
