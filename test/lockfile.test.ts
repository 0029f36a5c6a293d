import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package-root.ts'

/** The folders with a lock file, and how many packages each has at the least. */
const FOLDERS = { '.': 300, 'scripts/tools': 50, 'scripts/testcontainers': 100, 'test/tools': 300 }

type Entry = { link?: boolean; version?: string; integrity?: string; resolved?: string }

t.test('npm ci takes only what the lock file has a hash of, from any registry', async (t) => {
  for (const [folder, least] of Object.entries(FOLDERS)) {
    const { packages } = JSON.parse(
      readFileSync(join(PACKAGE_ROOT, folder, 'package-lock.json'), 'utf8'),
    ) as { packages: Record<string, Entry> }
    const entries = Object.entries(packages).filter(([path, { link }]) => path !== '' && !link)
    t.ok(entries.length > least, folder)
    const without = (fits: (entry: Entry) => boolean) =>
      entries.filter(([, entry]) => !fits(entry)).map(([path]) => path)
    t.same(
      without(({ integrity }) => /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')),
      [],
      `${folder}: each entry has a SHA-512, those for other platforms too`,
    )
    t.same(
      without(({ resolved }) => resolved === undefined),
      [],
      `${folder}: no entry names the registry that it came from`,
    )
  }
})
