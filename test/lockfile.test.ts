import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'

type Entry = { link?: boolean; version?: string; integrity?: string; resolved?: string }

t.test('npm ci takes only what the lock file has a hash of, from any registry', async (t) => {
  const { packages } = JSON.parse(
    readFileSync(join(PACKAGE_ROOT, 'package-lock.json'), 'utf8'),
  ) as { packages: Record<string, Entry> }
  const entries = Object.entries(packages).filter(([path, { link }]) => path !== '' && !link)
  t.ok(entries.length > 500)
  const without = (fits: (entry: Entry) => boolean) =>
    entries.filter(([, entry]) => !fits(entry)).map(([path]) => path)
  t.same(
    without(({ integrity }) => /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')),
    [],
    'each entry has a SHA-512, those for other platforms too',
  )
  t.same(
    without(({ resolved }) => resolved === undefined),
    [],
    'no entry names the registry that it came from',
  )
})
