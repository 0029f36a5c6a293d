import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { run } from './program.ts'

const shipped = readFileSync(join(PACKAGE_ROOT, 'scenarios/scenario.schema.json'), 'utf8')

t.test('schema prints the schema of scenario files', async (t) => {
  t.same(await run(['schema']), { code: 0, stdout: shipped, stderr: '' })
})

t.test('schema DIR writes it beside the files, and each file leads to it', async (t) => {
  const cwd = t.testdir({
    mine: { 'one.yaml': 'title: one\n', bank: { deep: { 'two.yaml': 'title: two\n' } } },
  })
  const { code, stdout, stderr } = await run(['schema', 'mine'], { cwd })
  t.equal(code, 0, stderr)
  t.equal(readFileSync(join(cwd, 'mine/scenario.schema.json'), 'utf8'), shipped)
  for (const file of ['one.yaml', 'bank/deep/two.yaml']) {
    const lines = stdout
      .slice(stdout.indexOf(` ${join('mine', file, '..')} `))
      .split('\n')
      .slice(1, 3)
    for (const line of lines) {
      const path = /^# (?:yaml-language-server: \$schema=|\$schema: )(\S+)$/.exec(line)![1]!
      t.equal(readFileSync(join(cwd, 'mine', file, '..', path), 'utf8'), shipped, line)
    }
    writeFileSync(
      join(cwd, 'mine', file),
      `${lines.join('\n')}\ntitle: with the lines\nextends: default\n`,
    )
  }
  t.match(await run(['validate', 'mine'], { cwd }), { code: 0, stdout: /^No problem in 2 files/ })
  t.match(await run(['schema', 'nowhere'], { cwd }), {
    code: 1,
    stderr: /nowhere\/scenario\.schema\.json cannot be written \(ENOENT\). Give the folder/,
  })
})
