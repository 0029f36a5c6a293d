import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { prepareFile } from '../../src/cli/output.ts'
import { isStream, replaceFile } from '../../src/config/files.ts'

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
    prepareFile('--har', file, 0o600).save('private')
    t.ok(lstatSync(file).isFile(), name)
    t.equal(lstatSync(file).mode & 0o777, 0o600, name)
    t.equal(readFileSync(file, 'utf8'), 'private')
  }
  t.equal(readFileSync(join(dir, 'victim'), 'utf8'), 'precious')
  t.notOk(existsSync(join(dir, 'nowhere')))
})

t.test('an output is written as it is, also if it leads to a file', async (t) => {
  for (const output of ['/dev/stdout', '/dev/../dev/stderr', '/dev/fd/63'])
    t.ok(isStream(output), output)
})

t.test('a file of a fixed name takes the place of a pipe, and of a link to anything', async (t) => {
  const dir = t.testdir({ victim: 'precious', link: t.fixture('symlink', 'victim') })
  symlinkSync('/dev/null', join(dir, 'device'))
  const { status } = spawnSync('mkfifo', [join(dir, 'pipe')])
  for (const name of ['link', 'device', ...(status === 0 ? ['pipe'] : [])]) {
    replaceFile(join(dir, name), 'new')
    t.ok(lstatSync(join(dir, name)).isFile(), name)
    t.equal(readFileSync(join(dir, name), 'utf8'), 'new')
  }
  t.equal(readFileSync(join(dir, 'victim'), 'utf8'), 'precious')
  t.throws(() => replaceFile(dir, 'x'))
})
