import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'

type Entry = {
  link?: boolean
  optional?: boolean
  integrity?: string
  resolved?: string
  deprecated?: string
  hasInstallScript?: boolean
}

// Each package costs two requests, so their number is what a first install waits for.
const MAX_PACKAGES = { '.': 230, 'test/slow': 800 }

const read = (...path: string[]) => JSON.parse(readFileSync(join(PACKAGE_ROOT, ...path), 'utf8'))

for (const [folder, max] of Object.entries(MAX_PACKAGES))
  t.test(
    `npm ci in ${folder} takes only what the lock file has a hash of, from any registry`,
    async (t) => {
      const packages: Record<string, Entry> = read(folder, 'package-lock.json').packages
      const entries = Object.entries(packages).filter(([path, { link }]) => path !== '' && !link)
      const which = (fits: (entry: Entry) => unknown) =>
        entries.filter(([, entry]) => fits(entry)).map(([path]) => path)
      t.same(
        which(({ integrity }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')),
        [],
        'each entry has a SHA-512, those for other platforms too',
      )
      t.same(
        which(({ resolved }) => resolved !== undefined),
        [],
        'no entry names the registry that it came from',
      )
      t.same(
        which(({ deprecated }) => deprecated),
        [],
        'none is deprecated',
      )
      const needed = which(({ optional }) => !optional).length
      t.ok(needed > 100 && needed <= max, `${needed} packages besides those for one platform`)
    },
  )

t.test('npm 11 asks about no install script', async (t) => {
  const { packages } = read('package-lock.json') as { packages: Record<string, Entry> }
  const scripts = Object.keys(packages).filter((path) => packages[path]!.hasInstallScript)
  const { allowScripts } = read('package.json')
  t.same(
    scripts,
    Object.keys(allowScripts).map((name) => `node_modules/${name}`),
  )
})
