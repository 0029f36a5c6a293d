import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run } from './program.ts'

const rule = 'rules: [{ when: { operation: getUser }, then: { delay: 1s } }]\n'
const user = {
  user_id: '00000000-0000-4000-8000-000000000001',
  email: 'a@example.com',
  mobile: '9876500001',
  created_at: '2025-01-01T00:00:00.000Z',
}
const users = (more: object) => `[\n  ${JSON.stringify({ ...user, ...more })}\n]\n`

const FILES = {
  scenarios: {
    'good.yaml': `extends: slow\n${rule}`,
    'warned.yaml':
      'rules: [{ when: { operation: getUser, body: { a: 1 } }, then: { delay: 1s } }]\n',
    'typo.yaml': 'rules:\n  - when: { opration: getUser }\n    then: { delay: 1s }\n',
    'unknown.yaml': 'extends: goood\n',
    'inline.json': '{\n  "rules": [{}]\n}\n',
    'notes.txt': 'x',
    '.hidden.yaml': '[',
  },
  fixtures: { 'users.json': users({ email: 'x' }), 'kyc.json': '[]' },
  good: { 'users.json': users({}) },
  mine: { 'only.yaml': rule },
  'set.json': '{\n  "users": [],\n  "people": []\n}\n',
  'torn.json': '{\n  "rules": [\n',
}

const PROBLEMS = {
  inline:
    'scenarios/inline.json:2:13: an empty rule; specify the calls with `when` and the outcome with `then`',
  typo: 'scenarios/typo.yaml:2:13: unknown key "opration"; did you mean "operation"?',
  unknown: 'scenarios/unknown.yaml:1:10: there is no scenario "goood"; did you mean "good"?',
  warned:
    'scenarios/warned.yaml:1:39: warning: this rule never matches: calls of getUser have no `body`',
  users: /^fixtures\/users\.json:2:61: \[0\]\.email: /,
}

t.test('files are checked: a line a problem, and exit 1', async (t) => {
  const cwd = t.testdir(FILES)
  const lines = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(['validate', ...words], { cwd })
    t.equal(stderr, '')
    return [code, ...stdout.trimEnd().split('\n')]
  }
  const { inline, typo, unknown, warned } = PROBLEMS
  const { stdout } = await run(['validate', '--json', 'scenarios/typo.yaml'], { cwd })
  t.match(stdout, /^\{.*\}\n$/)
  const file = 'scenarios/typo.yaml'
  const problems = [{ file, line: 2, column: 13, message: typo.split(': ')[1] }]
  const found = { ok: false, files: [file], shipped: [], problems, warnings: [] }
  t.strictSame(JSON.parse(stdout), found)
  t.strictSame(await lines('scenarios/good.yaml'), [0, 'No problem in 1 file.'])
  t.strictSame(await lines('./scenarios/typo.yaml'), [1, typo])
  t.strictSame(
    await lines('scenarios/good.yaml', 'scenarios/unknown.yaml', 'scenarios/inline.json'),
    [1, unknown, inline],
  )
  const both = await lines('scenarios/warned.yaml', 'scenarios/good.yaml')
  t.strictSame(both, [0, warned, '1 warning, no error in 2 files.'])
  t.strictSame(await lines('scenarios'), [1, inline, typo, unknown, warned])
  t.match(await lines('fixtures'), [1, PROBLEMS.users])
  t.match(await lines('fixtures/users.json'), [1, PROBLEMS.users])
  t.strictSame(await lines('fixtures/kyc.json'), [0, 'No problem in 1 file.'])
  t.match(await lines('set.json'), [
    1,
    /^set\.json:3:13: people: is unknown; must be one of clients, /,
  ])
  t.match(await lines('torn.json'), [1, /^torn\.json:\d:\d+: /])
  t.strictSame(await lines('scenarios/notes.txt', 'scenarios/.hidden.yaml'), [
    1,
    'scenarios/notes.txt:1:1: neither a scenario file (.yaml, .yml, .json) nor a fixture file (.json)',
    'scenarios/.hidden.yaml:1:1: files whose name starts with a dot or ends with .schema.json are not read as scenarios; rename the file',
  ])
})

t.test('each file of a folder is checked as what it is', async (t) => {
  const typo = 'titel: x\n'
  const cwd = t.testdir({
    named: { 'users.json': users({}), 'mine.yaml': 'extends: slow\n', '.hidden.yaml': '[' },
    bad: { 'users.json': users({ email: 'x' }), 'mine.yml': typo },
    set: { 'set.json': '{ "users": [] }', 'other.json': '{ "titel": "x" }', 'mine.yaml': typo },
    wrong: { 'set.json': '{ "users": [], "people": [] }' },
  })
  const validate = async (folder: string) => {
    const { code, stdout } = await run(['validate', '--json', folder], { cwd })
    const { files, problems } = JSON.parse(stdout) as Record<string, { file: string }[]>
    return { code, files, problems: problems!.map(({ file }) => file) }
  }
  t.strictSame(await validate('named'), {
    code: 0,
    files: ['named/users.json', 'named/mine.yaml'],
    problems: [],
  })
  t.strictSame((await validate('bad')).problems, ['bad/users.json', 'bad/mine.yml'])
  t.strictSame(await validate('set'), {
    code: 1,
    files: ['set/set.json', 'set/mine.yaml', 'set/other.json'],
    problems: ['set/mine.yaml', 'set/other.json'],
  })
  t.strictSame(await validate('wrong'), {
    code: 1,
    files: ['wrong/set.json'],
    problems: ['wrong/set.json'],
  })
})

t.test('what a start reads in a folder, validate checks: the folders in it too', async (t) => {
  const cwd = t.testdir({
    mine: {
      'top.yaml': 'extends: below\n',
      bank: { 'below.yaml': rule, 'bad.yaml': 'titel: x\n' },
      data: { 'users.json': users({ email: 'x' }) },
    },
  })
  const output = await run(['validate', 'mine'], { cwd })
  t.equal(output.code, 1)
  t.match(
    output.stdout,
    /^mine\/data\/users\.json:2:\d+: \[0\]\.email: .+\nmine\/bank\/bad\.yaml:1:1: .+\n$/,
  )
  const start = ['exec', '--scenarios', 'mine', '--scenario', 'below', '--', 'true']
  t.match(await run(start, { cwd }), { code: 2, stderr: /mine\/bank\/bad\.yaml:1:1: / })
  const options = await run(['validate', '--scenarios', 'mine'], { cwd })
  t.match(options, { code: 1, stdout: /^mine\/bank\/bad\.yaml:1:1: .+\n$/ })
  t.match(await run(['validate', 'mine/top.yaml', '--scenarios', 'mine'], { cwd }), { code: 0 })
  writeFileSync(join(cwd, 'mine/bank/bad.yaml'), rule)
  t.match(await run(start, { cwd }), {
    code: 0,
    stderr: /^payout-sandbox: the command made no call/,
  })
  const fine = await run(['validate', '--scenarios', 'mine', '--json'], { cwd })
  const files = ['mine/top.yaml', 'mine/bank/bad.yaml', 'mine/bank/below.yaml']
  t.strictSame(new Set(JSON.parse(fine.stdout).files), new Set(files))
  writeFileSync(join(cwd, 'mine/data/own.json'), '{}')
  t.match(await run(['validate', 'mine/data/own.json'], { cwd }), {
    code: 1,
    stdout: /own\.json:1:1: in a folder with fixtures, start reads each JSON file as fixtures/,
  })
})

t.test(
  'without a file, the folders of the options are checked, or else the shipped files',
  async (t) => {
    const cwd = t.testdir(FILES)
    const validate = async (words: string[], env = {}) => {
      const { code, stdout } = await run(['validate', '--json', ...words], { cwd, env })
      return { code, ...JSON.parse(stdout) }
    }
    const shipped = await validate([])
    t.match(shipped, { code: 0, files: [], problems: [], warnings: [] })
    t.ok(shipped.shipped.includes('scenarios/default.yaml'))
    t.ok(shipped.shipped.includes('fixtures/users.json'))
    const count = shipped.shipped.length
    t.equal((await run(['validate'], { cwd })).stdout, `No problem in ${count} shipped files.\n`)
    const own = await run(['validate', '--scenarios', 'scenarios'], { cwd })
    t.equal(own.code, 1)
    t.ok(own.stdout.includes(PROBLEMS.typo) && own.stdout.includes(PROBLEMS.unknown))
    const env = { PAYOUT_SANDBOX_FIXTURES: 'fixtures' }
    t.match(await run(['validate'], { cwd, env }), { code: 1, stdout: PROBLEMS.users })
    t.match(await validate(['--fixtures', 'good'], env), {
      code: 0,
      files: ['good/users.json'],
      shipped: [],
    })
    const both = await validate(['--fixtures', 'good', '--scenarios', 'mine'])
    t.strictSame(both.files, ['mine/only.yaml', 'good/users.json'])
    mkdirSync(join(cwd, 'empty'))
    t.match(await run(['validate', 'empty'], { cwd }), {
      code: 2,
      stderr: /no fixture or scenario file in empty/,
    })
    t.match(await run(['validate', '--scenarios', 'empty'], { cwd }), {
      code: 2,
      stderr: /no fixture or scenario file in empty/,
    })
    for (const words of [
      ['gone.yaml'],
      ['good', 'gone'],
      ['--json', 'gone'],
      ['--scenarios', 'gone'],
      ['--scenarios', 'set.json'],
      ['--fixtures', 'gone'],
    ])
      t.match(await run(['validate', ...words], { cwd }), {
        code: 2,
        stdout: '',
        stderr: /^payout-sandbox: There is no file or folder (gone|set\.json)[.a-z/]+ Give one/,
      })
  },
)
