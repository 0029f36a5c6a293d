import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { problemText } from '../../src/model/errors.ts'
import type { Library } from '../../src/scenarios/library.ts'
import { readLibrary } from '../../src/scenarios/read-library.ts'

const shipped = join(PACKAGE_ROOT, 'scenarios')
// The id of the user without rights.
const NOBODY = 65_534
const rule = 'rules: [{ when: { operation: getUser }, then: { delay: 1s } }]\n'

function libraryOf(folders: string[]): Library {
  const result = readLibrary(folders)
  if (!result.ok) throw new Error(result.problems.map(problemText).join('\n'))
  return result.library
}

function problemsOf(folder: string): string[] {
  const result = readLibrary([folder])
  return result.ok ? [] : result.problems.map((one) => problemText(one).replace(`${folder}/`, ''))
}

t.test('a folder gives its scenarios by the names of the files', async (t) => {
  const folder = t.testdir({
    'one.yaml': rule,
    'two.yml': rule,
    'three.json': '{"rules":[]}',
    'notes.md': '#',
    'x.schema.json': '{',
    'sweep.json': '{',
    '.hidden.yaml': '[',
  })
  const library = libraryOf([folder])
  t.strictSame(library.names, ['one', 'three', 'two'])
  t.equal(library.fileOf('two'), join(folder, 'two.yml'))
  t.equal(library.get('four'), undefined)
})

t.test('folders in the folder are read too, and no link to one is followed', async (t) => {
  const folder = t.testdir({
    'one.yaml': 'extends: deep\n',
    a: { 'two.yaml': rule, b: { c: { 'deep.yml': rule } } },
    '.git': { 'hidden.yaml': '[' },
    node_modules: { 'package.json': '{}' },
    fixtures: { 'users.json': '[]', 'kyc.json': '[]', 'beside.yaml': rule },
  })
  symlinkSync(folder, join(folder, 'a/loop'))
  const library = libraryOf([folder])
  t.strictSame(library.names, ['beside', 'deep', 'one', 'two'])
  t.equal(library.fileOf('deep'), join(folder, 'a/b/c/deep.yml'))
  const flat = readLibrary([folder], folder)
  t.match(flat, { ok: false, problems: [{ message: /no scenario "deep"/ }] })
})

t.test('a folder whose folders cannot all be read is refused', async (t) => {
  const twice = t.testdir({ 'one.yaml': rule, a: { 'one.yaml': rule } })
  t.strictSame(problemsOf(twice), [
    'a/one.yaml:1:1: "one.yaml" also has the name "one"; rename or remove one of them',
  ])
  const deep = join(t.testdir(), 'top')
  mkdirSync(join(deep, '1/2/3/4/5/6/7/8/9/10'), { recursive: true })
  writeFileSync(join(deep, '1/2/3/4/5/6/7/8/in.yaml'), rule)
  t.match(problemsOf(deep), [/the subfolder 1\/2\/3\/4\/5\/6\/7\/8\/9 is more than 8 levels deep/])
  const wide = join(t.testdir(), 'top')
  for (let i = 0; i < 200; i++) mkdirSync(join(wide, `f${i}`), { recursive: true })
  t.match(problemsOf(wide), [/the folder has more than 200 subfolders/])
})

t.test('a scenario lies over what it extends, and that over the default', async (t) => {
  const library = libraryOf([
    t.testdir({
      'default.yaml': rule,
      'a.yaml': 'extends: b\n',
      'b.yaml': `extends: c\n${rule}`,
      'c.yaml': rule,
      'bare.yaml': `base: none\n${rule}`,
      'over-bare.yaml': 'extends: bare\n',
      'on-default.yaml': 'extends: default\n',
    }),
  ])
  const layers = (name: string) => library.layersOf(library.get(name)!).map((one) => one.name)
  t.strictSame(layers('a'), ['a', 'b', 'c', 'default'])
  t.strictSame(layers('c'), ['c', 'default'])
  t.strictSame(layers('default'), ['default'])
  t.strictSame(layers('bare'), ['bare'])
  t.strictSame(layers('over-bare'), ['over-bare', 'bare'])
  t.strictSame(layers('on-default'), ['on-default', 'default'])
})

const LOOP = 'immediately, in an endless loop; give one of them an `after` of at least 100ms'
/** Files of a folder, and what is wrong with them. */
const REFUSED: readonly (readonly [files: Record<string, string>, ...problems: string[]])[] = [
  [
    { 'a.yaml': rule, 'b.yaml': 'titel: x\n', 'c.yaml': 'rules: [{}]\n' },
    'b.yaml:1:1: unknown key "titel"; did you mean "title"?',
    'c.yaml:1:9: an empty rule; specify the calls with `when` and the outcome with `then`',
  ],
  [
    { 'a.yaml': 'extends: slwo\n', 'slow.yaml': rule },
    'a.yaml:1:10: there is no scenario "slwo"; did you mean "slow"?',
  ],
  [
    { 'a.yaml': 'timeline: [{ do: { use: nowhere } }]\n' },
    'a.yaml:1:25: there is no scenario "nowhere"; known scenarios: a',
  ],
  [
    { 'a.yaml': 'extends: b\n', 'b.yaml': 'extends: a\n' },
    'a.yaml:1:10: a extends b extends a: this is a cycle; remove one `extends`',
    'b.yaml:1:10: b extends a extends b: this is a cycle; remove one `extends`',
  ],
  [{ 'a.yaml': 'extends: a\n' }, 'a.yaml:1:10: a extends a: this is a cycle; remove one `extends`'],
  [
    { 'a.yaml': 'extends: b\n', 'b.yaml': 'titel: x\n', 'c.yaml': 'extends: bb\n' },
    'b.yaml:1:1: unknown key "titel"; did you mean "title"?',
    'c.yaml:1:10: there is no scenario "bb"; did you mean "b"?',
  ],
  [
    { 'a.yaml': 'timeline:\n  - { after: 99ms, do: { use: a } }\n' },
    `a.yaml:2:31: a uses a ${LOOP}`,
  ],
  [
    {
      'a.yaml': 'timeline: [{ do: { use: b } }]\n',
      'b.yaml': 'timeline: [{ do: { use: c } }]\n',
      'c.yaml': 'timeline: [{ after: 0s, do: { use: a } }]\n',
      'd.yaml': 'timeline: [{ do: { use: a } }]\n',
    },
    `a.yaml:1:25: a uses b uses c uses a ${LOOP}`,
    `b.yaml:1:25: b uses c uses a uses b ${LOOP}`,
    `c.yaml:1:36: c uses a uses b uses c ${LOOP}`,
  ],
  [
    { 'a.yaml': 'timeline: [{ do: { use: b } }]\n', 'b.yaml': 'extends: a\n' },
    `a.yaml:1:25: b uses b ${LOOP}`,
  ],
  [
    { 'default.yaml': 'timeline: [{ do: { use: b } }]\n', 'b.yaml': rule },
    `default.yaml:1:25: b uses b ${LOOP}`,
  ],
  [
    { 'My Scenario.yaml': rule },
    'My Scenario.yaml:1:1: "My Scenario.yaml" is not a valid scenario name (lowercase letters, digits and hyphens, at most 63 characters); rename the file',
  ],
  [
    { 'a.json': '{"rules":[]}', 'a.yaml': rule },
    'a.yaml:1:1: "a.json" also has the name "a"; rename or remove one of them',
  ],
]

t.test('a set is whole or refused', async (t) => {
  for (const [files, ...wanted] of REFUSED) t.strictSame(problemsOf(t.testdir(files)), wanted)
})

t.test('scenarios may use each other if a change takes time, or if the changes end', async (t) => {
  libraryOf([
    t.testdir({
      'a.yaml': 'timeline: [{ do: { use: b } }]\n',
      'b.yaml': 'timeline: [{ after: 100ms, do: { use: a } }]\n',
      'c.yaml': 'timeline: [{ after: 1s, do: { use: c } }]\n',
      'd.yaml': 'timeline: [{ do: { use: e } }]\n',
      'default.yaml': rule,
      'e.yaml': `base: none\n${rule}`,
    }),
  ])
})

t.test('what is no text file of fair size inside the folder is refused', async (t) => {
  const folder = t.testdir({ 'good.yaml': rule, 'big.yaml': '#'.repeat(70_000) })
  writeFileSync(join(folder, 'binary.yaml'), Buffer.from([0x74, 0xff, 0xfe]))
  mkdirSync(join(folder, 'folder.yaml'))
  symlinkSync(join(shipped, 'slow.yaml'), join(folder, 'link.yaml'))
  symlinkSync(join(folder, 'good.yaml'), join(folder, 'inside.yaml'))
  symlinkSync(join(folder, 'gone'), join(folder, 'dangling.yaml'))
  symlinkSync('loop.yaml', join(folder, 'loop.yaml'))
  t.strictSame(problemsOf(folder), [
    'dangling.yaml:1:1: this is not a regular file; remove it from the folder',
    'folder.yaml:1:1: this is not a regular file; remove it from the folder',
    'loop.yaml:1:1: this is not a regular file; remove it from the folder',
    'big.yaml:1:1: the file has 70000 bytes; the maximum is 65536 (64 KiB). Split the file with extends',
    "binary.yaml:1:1: the file isn't UTF-8 text, but perhaps Windows-1252; save it as UTF-8",
    'link.yaml:1:1: a symbolic link that points outside the folder; copy the file into the folder instead',
  ])
})

t.test('a file without the permission to read it is refused', async (t) => {
  // Outside the project, whose folders another user may not be allowed to enter.
  const folder = mkdtempSync(join(tmpdir(), 'scenarios-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  writeFileSync(join(folder, 'secret.yaml'), rule, { mode: 0o000 })
  // Root reads every file.
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid!(NOBODY)
  const problems = problemsOf(folder)
  if (isRoot) process.seteuid!(0)
  t.strictSame(problems, ['secret.yaml:1:1: the file cannot be read (EACCES)'])
})
