import { spawnSync } from 'node:child_process'
import { lstatSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isStream, replaceFile } from '../../src/config/files.ts'

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
