import { chmodSync, closeSync, existsSync, lstatSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openNewPrivate, openPrivate } from '../../src/storage/private-file.ts'

function write(file: string) {
  const fd = openPrivate(file)
  writeSync(fd, 'secret')
  closeSync(fd)
}

t.test('a private file is written for its owner alone, and through no link', async (t) => {
  const dir = t.testdir({
    victim: 'precious',
    link: t.fixture('symlink', 'victim'),
    dangling: t.fixture('symlink', 'nowhere'),
    open: 'read by all',
  })
  chmodSync(join(dir, 'open'), 0o666)
  for (const name of ['new', 'open', 'link', 'dangling']) {
    const file = join(dir, name)
    write(file)
    t.ok(lstatSync(file).isFile(), name)
    t.equal(lstatSync(file).mode & 0o777, 0o600, name)
    t.equal(readFileSync(file, 'utf8'), 'secret')
  }
  t.equal(readFileSync(join(dir, 'victim'), 'utf8'), 'precious')
  t.notOk(existsSync(join(dir, 'nowhere')))
})

t.test('a new private file takes the place of nothing', async (t) => {
  const dir = t.testdir({
    old: 'precious',
    empty: '',
    link: t.fixture('symlink', 'old'),
    dangling: t.fixture('symlink', 'nowhere'),
  })
  for (const name of ['old', 'empty', 'link', 'dangling'])
    t.throws(() => openNewPrivate(join(dir, name)), { code: 'EEXIST' }, name)
  t.equal(readFileSync(join(dir, 'old'), 'utf8'), 'precious')
  t.notOk(existsSync(join(dir, 'nowhere')))
  closeSync(openNewPrivate(join(dir, 'new')))
  t.equal(lstatSync(join(dir, 'new')).mode & 0o777, 0o600)
  t.throws(() => openNewPrivate(join(dir, 'new')), { code: 'EEXIST' }, 'it is there now')
})

t.test('a device stays as it is', { skip: !existsSync('/dev/null') }, async (t) => {
  write('/dev/null')
  closeSync(openNewPrivate('/dev/null'))
  t.ok(lstatSync('/dev/null').isCharacterDevice())
  t.throws(() => openPrivate(t.testdir()), { code: 'EISDIR' })
})
